// What the parts of the emulated CUDA runtime share. Device memory is memory of the host, every call is
// done when it returns, and each host thread has a current device.
#pragma once
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

// A function of the runtime: hooks.py makes calls of cudaX go to emulated_cudaX.
#define RUNTIME(name) EXPORTED cudaError_t emulated_##name

// Returns from a function of the runtime with an error where a condition holds.
#define REFUSE_IF(condition, error)    \
  do {                                 \
    if (condition) return fail(error); \
  } while (0)

// What is refused in a process that was forked after CUDA had been used.
#define CHECK_FORK() REFUSE_IF(forked(), cudaErrorInitializationError)

// What is refused while a stream is recorded, and spoils the recording.
#define CHECK_CAPTURE(what) REFUSE_IF(spoils_capture(what), cudaErrorStreamCaptureUnsupported)

// Tells on stderr what was wrong with a call; the caller gets an error code only.
#define COMPLAIN(...) fprintf(stderr, "Emulated CUDA: " __VA_ARGS__)

enum { HOST = 1, DEVICE = 2, MANAGED = 3 };  // as cudaMemoryType
enum { WARP = 32, MAX_DEVICES = 16, MAX_THREADS = 1024, MAX_SHARED = 232448, PLAIN_SHARED = 49152 };

typedef struct Block {
  char* start;
  size_t size;
  int device;
  int kind;
  struct Block* next;
} Block;

typedef struct {
  int device;
  unsigned flags;
  int priority;
} Stream;

// Counters for tests.
extern EXPORTED long emulation_copies, emulation_synchronizations, emulation_launches;
#define COUNT(counter) __sync_fetch_and_add(&(counter), 1)

extern __thread int current_device;
int device_count(void);
int peers_enabled(int from, int to);

cudaError_t fail(cudaError_t error);  // remembers an error for cudaGetLastError and returns it
int forked(void);

Block* find_block(const void* pointer);  // the block of memory that a pointer points into, or NULL

int stream_device(void* stream);
extern void* captured_stream;          // the stream that is recorded, or NULL
int spoils_capture(const char* what);  // 1 where a stream is recorded; the recording is then spoiled
