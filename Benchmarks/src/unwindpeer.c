/* libunwind on a copy of a thread: its fastest way, with its global cache, memory from the copy, and
 * tables from the mapped files by .eh_frame_hdr. One capture, then many walks over it.
 * usage: unwindpeer PID ROUNDS STACK-BYTES    prints: frames, median ns a frame when warm */
#include "common.h"
#include <elf.h>
#include <libunwind.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#if !defined(__x86_64__)
int main(void) { fputs("only written for x86-64\n", stderr); return 2; }
#else

/* Exported by libunwind, declared in no installed header. */
int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t, unw_word_t, unw_dyn_info_t *,
                                       unw_proc_info_t *, int, void *);

#define MOST 4096
static struct mapping {
  uint64_t start, end, offset, bias, header, table, entries;
  const uint8_t *file;
  size_t size;
} maps[MOST];
static int mapped;
static struct user_regs_struct registers;
static uint8_t *stack;
static uint64_t stack_start;
static size_t stack_size;

/* The bias and the search table of what is mapped there, if it is an ELF file. */
static void describe(struct mapping *m) {
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)m->file;
  if (m->size < 4096 || memcmp(head->e_ident, ELFMAG, SELFMAG)) return;
  const Elf64_Phdr *part = (const Elf64_Phdr *)(m->file + head->e_phoff);
  for (int i = 0; i < head->e_phnum; i++) {
    uint64_t low = part[i].p_offset & ~4095ull;
    if (part[i].p_type == PT_LOAD && part[i].p_flags & PF_X && m->offset >= low &&
        m->offset < part[i].p_offset + part[i].p_filesz)
      m->bias = m->start - ((part[i].p_vaddr & ~4095ull) + (m->offset - low));
  }
  for (int i = 0; i < head->e_phnum; i++) {
    const uint8_t *h = m->file + part[i].p_offset;
    if (part[i].p_type != PT_GNU_EH_FRAME || h[0] != 1 || h[2] != 3 || h[3] != 0x3b) continue;
    uint32_t count;
    memcpy(&count, h + 8, 4);
    m->header = m->bias + part[i].p_vaddr;
    m->table = m->header + 12;
    m->entries = count;
  }
}

static void open_file(struct mapping *m, const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat about;
  if (file >= 0 && !fstat(file, &about) && S_ISREG(about.st_mode) && about.st_size > 0) {
    m->file = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    m->size = m->file == MAP_FAILED ? 0 : (size_t)about.st_size;
  }
  if (file >= 0) close(file);
}

static void copy_vdso(struct mapping *m, int pid) {
  m->size = m->end - m->start;
  uint8_t *bytes = malloc(m->size);
  struct iovec here = {bytes, m->size}, there = {(void *)m->start, m->size};
  if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)m->size) m->size = 0;
  m->file = bytes;
}

static void read_map(int pid) {
  char path[64], line[4096], name[4096], mode[8];
  snprintf(path, sizeof path, "/proc/%d/maps", pid);
  FILE *file = fopen(path, "r");
  while (file && mapped < MOST && fgets(line, sizeof line, file)) {
    struct mapping *m = &maps[mapped];
    name[0] = 0;
    if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4000s", &m->start, &m->end, mode, &m->offset, name) < 4) continue;
    mapped++;
    if (name[0] == '/' && strncmp(name, "/dev", 4)) open_file(m, name);
    if (!strcmp(name, "[vdso]")) copy_vdso(m, pid);
    if (mode[2] == 'x') describe(m);
  }
  if (file) fclose(file);
}

static struct mapping *at(uint64_t address) {
  for (int i = 0; i < mapped; i++)
    if (address >= maps[i].start && address < maps[i].end) return &maps[i];
  return NULL;
}

static int access_mem(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write, void *argument) {
  (void)space, (void)argument;
  if (write) return -UNW_EINVAL;
  if (address >= stack_start && address + 8 <= stack_start + stack_size) {
    memcpy(value, stack + (address - stack_start), 8);
    return 0;
  }
  struct mapping *m = at(address);
  uint64_t offset = m ? address - m->start + m->offset : 0;
  if (!m || !m->size || offset + 8 > m->size) return -UNW_EINVAL;
  memcpy(value, m->file + offset, 8);
  return 0;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write, void *argument) {
  (void)space, (void)argument;
  const struct user_regs_struct *r = &registers;
  const unsigned long long all[] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
                                    r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip};
  if (write || number < 0 || number > UNW_X86_64_RIP) return -UNW_EBADREG;
  *value = all[number];
  return 0;
}

static int find(unw_addr_space_t space, unw_word_t address, unw_proc_info_t *info, int need, void *argument) {
  struct mapping *m = at(address);
  if (!m || !m->entries) return -UNW_ENOINFO;
  unw_dyn_info_t table;
  memset(&table, 0, sizeof table);
  table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  table.start_ip = m->start;
  table.end_ip = m->end;
  table.u.rti.segbase = m->header;
  table.u.rti.table_data = m->table;
  table.u.rti.table_len = m->entries * 8 / sizeof(unw_word_t);
  return _Ux86_64_dwarf_search_unwind_table(space, address, &table, info, need, argument);
}

static void put(unw_addr_space_t space, unw_proc_info_t *info, void *argument) { (void)space, (void)info, (void)argument; }
static int dynamic(unw_addr_space_t space, unw_word_t *address, void *argument) { (void)space, (void)address, (void)argument; return -UNW_ENOINFO; }
static int access_fp(unw_addr_space_t s, unw_regnum_t n, unw_fpreg_t *v, int w, void *a) { (void)s, (void)n, (void)v, (void)w, (void)a; return -UNW_EINVAL; }
static int resume(unw_addr_space_t s, unw_cursor_t *c, void *a) { (void)s, (void)c, (void)a; return -UNW_EINVAL; }
static int name(unw_addr_space_t s, unw_word_t a, char *b, size_t n, unw_word_t *o, void *x) { (void)s, (void)a, (void)b, (void)n, (void)o, (void)x; return -UNW_ENOINFO; }

static int walk(unw_addr_space_t space) {
  unw_cursor_t cursor;
  unw_word_t counter;
  int frames = 0;
  if (unw_init_remote(&cursor, space, &cursor)) return 0;
  do {
    unw_get_reg(&cursor, UNW_REG_IP, &counter);
    frames++;
  } while (unw_step(&cursor) > 0 && frames < 100000);
  return frames;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

int main(int count, char **arguments) {
  if (count < 4) return 2;
  int pid = atoi(arguments[1]), rounds = atoi(arguments[2]), status;
  size_t size = (size_t)atoi(arguments[3]);
  stack = malloc(size);
  struct iovec space = {&registers, sizeof registers};
  read_map(pid);
  if (ptrace(PTRACE_SEIZE, pid, 0, 0) || ptrace(PTRACE_INTERRUPT, pid, 0, 0) ||
      waitpid(pid, &status, __WALL) != pid || ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &space))
    return 1;
  stack_start = registers.rsp - 128;
  struct iovec here = {stack, size}, there = {(void *)stack_start, size};
  ssize_t copied = process_vm_readv(pid, &here, 1, &there, 1, 0);
  ptrace(PTRACE_DETACH, pid, 0, 0);
  stack_size = copied < 0 ? 0 : (size_t)copied;
  unw_accessors_t accessors = {.find_proc_info = find, .put_unwind_info = put, .get_dyn_info_list_addr = dynamic,
                               .access_mem = access_mem, .access_reg = access_reg, .access_fpreg = access_fp,
                               .resume = resume, .get_proc_name = name};
  unw_addr_space_t addresses = unw_create_addr_space(&accessors, 0);
  unw_set_caching_policy(addresses, UNW_CACHE_GLOBAL);
  int frames = walk(addresses), walks = frames > 500 ? 10 : 200;
  if (!frames) return 1;
  double *taken = calloc((size_t)rounds, sizeof *taken);
  for (int i = 0; i < rounds; i++) {
    uint64_t from = now_ns();
    for (int w = 0; w < walks; w++) walk(addresses);
    taken[i] = (double)(now_ns() - from) / walks / frames;
  }
  qsort(taken, (size_t)rounds, sizeof *taken, compare);
  printf("%d %.2f\n", frames, taken[rounds / 2]);
  return 0;
}
#endif
