// Lines and inlined functions by libdw, in the isolated helper. The file is mapped: a file that is cut
// meanwhile kills the helper (SIGBUS) and nothing else, and only what is looked at is read.

#include "helper.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct work {
  Dwarf *dwarf;
  int pipe;
  size_t limit;
  char *name;
};

// Offsets of compilation units by address where .debug_aranges lacks them (clang, Swift, rustc write
// none): one walk over all units for all addresses.
static void find_units(Dwarf *dwarf, const uint64_t *addresses, size_t count, Dwarf_Off *units) {
  size_t missing = 0;
  for (size_t i = 0; i < count; i++) {
    Dwarf_Die unit;
    units[i] = dwarf_addrdie(dwarf, addresses[i], &unit) ? dwarf_dieoffset(&unit) : 0;
    missing += units[i] == 0;
  }
  Dwarf_CU *cu = NULL;
  Dwarf_Die die;
  while (missing > 0 && dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0) {
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;
    while (missing > 0 && (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0) {
      for (size_t i = 0; i < count; i++) {
        if (units[i] == 0 && addresses[i] >= start && addresses[i] < end) {
          units[i] = dwarf_dieoffset(&die);
          missing--;
        }
      }
    }
  }
}

static const char *string_of(Dwarf_Die *die, unsigned name) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

// `file` may be relative to where the unit was compiled.
static void say(
    struct work *work, Dwarf_Die *unit, Dwarf_Die *die, struct cprobe_answer head,
    const char *file) {
  const char *name = NULL;
  if (die) {
    name = string_of(die, DW_AT_linkage_name);
    if (!name) name = string_of(die, DW_AT_MIPS_linkage_name);
    if (!name) name = dwarf_diename(die);
  }
  if (name) {
    size_t length = helper_demangle(name, work->name, work->limit, &head.is_cut);
    if (length == 0) {
      length = strnlen(name, work->limit);
      head.is_cut = name[length] != 0;
      memcpy(work->name, name, length);
    }
    head.name_length = (uint32_t)length;
  }
  // Longer ones than the system takes are cut.
  char path[4096] = "";
  if (file) {
    const char *folder = file[0] == '/' ? NULL : string_of(unit, DW_AT_comp_dir);
    if (folder) snprintf(path, sizeof path, "%s/%s", folder, file);
    else snprintf(path, sizeof path, "%s", file);
  }
  head.file_length = (uint32_t)strlen(path);
  helper_answer(work->pipe, head, work->name, path);
}

static uint32_t number_of(Dwarf_Die *die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value;
  if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0 || value > INT32_MAX) return 0;
  return (uint32_t)value;
}

static int is_function(Dwarf_Die *die) {
  int tag = dwarf_tag(die);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

// The function that holds the address, then what that one is inlined into, and so on.
static int scopes_of(Dwarf_Die *unit, uint64_t address, Dwarf_Die **scopes) {
  Dwarf_Die *around = NULL;
  int count = dwarf_getscopes(unit, address, &around), first = 0;
  while (first < count && !is_function(&around[first])) first++;
  *scopes = NULL;
  int found = first < count ? dwarf_getscopes_die(&around[first], scopes) : 0;
  free(around);
  return found;
}

static void look_up(struct work *work, uint32_t index, uint64_t address, Dwarf_Off offset) {
  Dwarf_Die unit_space, *unit = offset ? dwarf_offdie(work->dwarf, offset, &unit_space) : NULL;
  if (!unit) return;
  struct cprobe_answer head = {.index = index};
  const char *file = NULL;
  Dwarf_Line *line = dwarf_getsrc_die(unit, address);
  if (line) {
    int number = 0;
    file = dwarf_linesrc(line, NULL, NULL);
    head.line = dwarf_lineno(line, &number) == 0 && number > 0 ? (uint32_t)number : 0;
  }
  Dwarf_Files *files = NULL;
  size_t file_count = 0;
  Dwarf_Die *scopes, *outermost = NULL;
  int count = scopes_of(unit, address, &scopes);
  for (int i = 0; i < count && !outermost; i++) {
    if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram) outermost = &scopes[i];
    if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine) continue;
    head.kind = CPROBE_ANSWER_INLINED;
    say(work, unit, &scopes[i], head, file);
    // Where it was called is the line of the next one outside of it.
    if (!files && dwarf_getsrcfiles(unit, &files, &file_count) != 0) files = NULL;
    uint32_t number = number_of(&scopes[i], DW_AT_call_file);
    file = files && number < file_count ? dwarf_filesrc(files, number, NULL, NULL) : NULL;
    head.line = number_of(&scopes[i], DW_AT_call_line);
  }
  head.kind = CPROBE_ANSWER_FUNCTION;
  if (outermost || file) say(work, unit, outermost, head, file);
}

int cprobe_lines_start(
    int fd, const uint64_t *addresses, size_t count, size_t limit, struct cprobe_helper *out) {
  struct cprobe_helper helper;
  int role = helper_fork(fd, &helper);
  if (role <= 0) {
    *out = helper;
    return role;
  }
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
  Dwarf_Off *units = calloc(count, sizeof *units);
  struct work work = {elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL, helper.pipe, limit,
                      malloc(limit + 1)};
  if (!work.dwarf || !units || !work.name) {
    struct cprobe_answer none = {.kind = CPROBE_ANSWER_NO_DEBUG};
    helper_answer(helper.pipe, none, "", "");
    _exit(0);
  }
  find_units(work.dwarf, addresses, count, units);
  for (uint32_t index = 0; index < count; index++) {
    look_up(&work, index, addresses[index], units[index]);
    struct cprobe_answer done = {.index = index, .kind = CPROBE_ANSWER_DONE};
    helper_answer(helper.pipe, done, "", "");
  }
  _exit(0);
}
