// Copies its own registers and stack at a known place and says which return addresses lie there, so
// that unwinding is tested without tracing anything. One program, many ways to build it: see the
// Makefile. Usage: self_snapshot MODE DEPTH FILE; waits on standard input afterwards, so that its
// files can be opened through /proc.
// Modes: plain; signal (a fault, handled on the same stack); altstack (on another one); jit (through
// a page of code without any table); badcall (a call of address 16); vdso (a timer's signal while in
// the vDSO, if it has code there).
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define HERE() ((uint64_t)__builtin_extract_return_addr(__builtin_return_address(0)))
static volatile uint64_t expected[8192]; // innermost last
static volatile int count;
static FILE *out;
static const char *mode;
static volatile int sink;
static uint64_t stack_top, alt_low, alt_high;
static uint64_t regs[17];

static void region(uint64_t from, uint64_t until) {
  fprintf(out, "region %lx ", (unsigned long)from);
  for (uint64_t a = from; a < until; a++) fprintf(out, "%02x", *(volatile uint8_t *)a);
  fputc('\n', out);
}

static uint64_t interrupted_sp, interrupted_pc;

static void save(void) {
  uint64_t sp = regs[7] - 128;
  if (alt_low && regs[7] >= alt_low && regs[7] < alt_high) {
    // Sorted by address.
    uint64_t low = interrupted_sp - 128;
    if (low < sp) region(low, stack_top);
    region(sp, alt_high);
    if (low >= sp) region(low, stack_top);
  } else {
    region(sp, stack_top);
  }
  for (int i = 0; i < 17; i++) fprintf(out, "register %d %lx\n", i, (unsigned long)regs[i]);
  for (int i = count; i-- > 0;) fprintf(out, "expect %lx\n", (unsigned long)expected[i]);
  if (interrupted_pc) fprintf(out, "interrupted %lx\n", (unsigned long)interrupted_pc);
  fputs("end\n", out);
  fclose(out);
  puts("ready");
  fflush(stdout);
  char c;
  while (read(0, &c, 1) > 0) {}
  _exit(0);
}

// The registers as they are in this very function; what it saved of its caller's is on its stack.
__attribute__((noinline)) static void leaf(void) {
  expected[count++] = HERE();
  __asm__ volatile(
      "mov %%rax, 0(%0)\n mov %%rdx, 8(%0)\n mov %%rcx, 16(%0)\n mov %%rbx, 24(%0)\n"
      "mov %%rsi, 32(%0)\n mov %%rdi, 40(%0)\n mov %%rbp, 48(%0)\n mov %%rsp, 56(%0)\n"
      "mov %%r8, 64(%0)\n mov %%r9, 72(%0)\n mov %%r10, 80(%0)\n mov %%r11, 88(%0)\n"
      "mov %%r12, 96(%0)\n mov %%r13, 104(%0)\n mov %%r14, 112(%0)\n mov %%r15, 120(%0)\n"
      "lea 1f(%%rip), %%rax\n mov %%rax, 128(%0)\n1:\n"
      : : "D"(regs) : "rax", "memory");
  expected[count++] = regs[16];
  save();
  sink++;
}

static void handler(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  ucontext_t *c = context;
  uint64_t pc = (uint64_t)c->uc_mcontext.gregs[REG_RIP];
  if (!strcmp(mode, "vdso")) {
    uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
    if (pc - vdso >= 16384) return;
  }
  interrupted_pc = pc;
  interrupted_sp = (uint64_t)c->uc_mcontext.gregs[REG_RSP];
  expected[count++] = pc;
  leaf();
  sink++;
}

static void catch(int number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART | (!strcmp(mode, "altstack") ? SA_ONSTACK : 0);
  sigaction(number, &action, NULL);
}

__attribute__((noinline)) static void fault(void) {
  expected[count++] = HERE();
  catch(SIGILL);
  __asm__ volatile("ud2" ::: "memory");
  sink++;
}

__attribute__((noinline)) static void jit(void) {
  expected[count++] = HERE();
  // push %rbp; mov %rsp, %rbp; sub $32, %rsp; call *%rdi; leave; ret
  static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20,
                                 0xff, 0xd7, 0xc9, 0xc3};
  uint8_t *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, code, sizeof code);
  ((void (*)(void (*)(void)))page)(leaf);
  sink++;
}

__attribute__((noinline)) static void clocks(void) {
  expected[count++] = HERE();
  catch(SIGALRM);
  struct itimerval often = {{0, 500}, {0, 500}};
  setitimer(ITIMER_REAL, &often, NULL);
  struct timespec now;
  for (;;) clock_gettime(CLOCK_MONOTONIC, &now);
}

__attribute__((noinline)) static void bad_call(void) {
  expected[count++] = HERE();
  catch(SIGSEGV);
  void (*volatile nowhere)(void) = (void (*)(void))16;
  nowhere();
  sink++;
}

__attribute__((noinline)) static int deeper(int depth) {
  expected[count++] = HERE();
  if (depth > 0) {
    int result = deeper(depth - 1) + depth;
    sink += result;
    return result;
  }
  if (!strcmp(mode, "signal") || !strcmp(mode, "altstack")) fault();
  else if (!strcmp(mode, "jit")) jit();
  else if (!strcmp(mode, "badcall")) bad_call();
  else if (!strcmp(mode, "vdso")) clocks();
  else leaf();
  sink++;
  return sink;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  mode = argv[1];
  out = fopen(argv[3], "w");
  if (!out) return 2;
  // The end of the stack's mapping; beyond it nothing can be read.
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[512];
  unsigned long from, until;
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx", &from, &until) == 2 && (uint64_t)&line >= from && (uint64_t)&line < until)
      stack_top = until;
  fclose(maps);
  if (!strcmp(mode, "altstack")) {
    stack_t alternate = {.ss_size = 65536, .ss_sp = malloc(65536)};
    alt_low = (uint64_t)alternate.ss_sp;
    alt_high = alt_low + alternate.ss_size;
    sigaltstack(&alternate, NULL);
  }
  deeper(atoi(argv[2]));
  return sink;
}
