// Hooks: jumps written over the first bytes of functions that are linked into a module (x86-64).
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"

// mov $to, %rax; jmp *%rax
static void write_jump(unsigned char* at, const void* to) {
  static const unsigned char kCode[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  memcpy(at, kCode, sizeof kCode);
  memcpy(at + 2, &to, sizeof to);
}

// Makes calls of one function go to another; returns 0, or 1 where its code cannot be written.
EXPORTED int emulation_hook(void* function, const void* to) {
  const size_t page = sysconf(_SC_PAGESIZE);
  void* start = (void*)((uintptr_t)function & ~(page - 1));
  if (mprotect(start, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC)) return 1;
  write_jump(function, to);
  return 0;
}

static int unsupported(const char* name) {
  COMPLAIN("%s is not emulated\n", name);
  return cudaErrorNotSupported;
}

// Makes calls of a function say its name and return an error.
EXPORTED int emulation_hook_unsupported(void* function, const char* name) {
  static unsigned char* room;
  static size_t left;
  enum { STEP = 32, ROOM = 65536 };
  if (left < STEP) {
    room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return 1;
    left = ROOM;
  }
  unsigned char* code = room;
  const char* kept = strdup(name);
  room += STEP;
  left -= STEP;
  // mov $name, %rdi, and the jump
  code[0] = 0x48;
  code[1] = 0xbf;
  memcpy(code + 2, &kept, sizeof kept);
  write_jump(code + 10, (const void*)unsupported);
  return emulation_hook(function, code);
}
