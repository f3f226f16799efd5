/* Preloaded into a process, writes down every write, truncation and sync of its files named spool.sqlite*, and what it
   says on standard output, in order, to the file RECORDING_DISK: the test plays them back up to a power cut. While the
   file named by FAILING_DISK exists, every sync fails with EIO. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int record_fd = -1;
static ssize_t (*real_write)(int, const void *, size_t);

static int wanted(int fd, char *name) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  char *base = strrchr(path, '/');
  /* not -shm, which is rebuilt; not -journal, which lives only while the file is created, before anything is in it */
  if (!base || strncmp(base + 1, "spool.sqlite", 12) || strstr(base, "-shm") || strstr(base, "-journal")) return 0;
  snprintf(name, 64, "%s", base + 1);
  return 1;
}

static void record(char kind, const char *name, int64_t offset, const void *data, uint32_t size) {
  if (record_fd < 0) {
    const char *file = getenv("RECORDING_DISK");
    if (!file) return;
    real_write = dlsym(RTLD_NEXT, "write");
    record_fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
  }
  char head[78] = {0};
  head[0] = kind;
  memcpy(head + 1, &offset, 8);
  memcpy(head + 9, &size, 4);
  strncpy(head + 13, name, 64);
  if (real_write(record_fd, head, 77) != 77 || (size && real_write(record_fd, data, size) != (ssize_t)size)) abort();
}

static int failing(int fd) {
  char name[64];
  const char *file = getenv("FAILING_DISK");
  if (!file || access(file, F_OK) || !wanted(fd, name)) return 0;
  errno = EIO;
  return 1;
}

#define HELD(call, kind, offset, data, size)          \
  char name[64];                                      \
  int mine = wanted(fd, name);                        \
  if (mine) pthread_mutex_lock(&lock);                \
  __typeof__(call) result = call;                     \
  if (mine) {                                         \
    if (result >= 0) record(kind, name, offset, data, size); \
    pthread_mutex_unlock(&lock);                      \
  }                                                   \
  return result

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
  ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
  HELD(real(fd, data, size, offset), 'w', offset, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
  ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
  HELD(real(fd, data, size, offset), 'w', offset, data, size);
}

int ftruncate(int fd, off_t size) {
  int (*real)(int, off_t) = dlsym(RTLD_NEXT, "ftruncate");
  HELD(real(fd, size), 't', size, "", 0);
}

int ftruncate64(int fd, off64_t size) {
  int (*real)(int, off64_t) = dlsym(RTLD_NEXT, "ftruncate64");
  HELD(real(fd, size), 't', size, "", 0);
}

int fsync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  if (failing(fd)) return -1;
  HELD(real(fd), 's', 0, "", 0);
}

int fdatasync(int fd) {
  int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
  if (failing(fd)) return -1;
  HELD(real(fd), 's', 0, "", 0);
}

ssize_t write(int fd, const void *data, size_t size) {
  ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
  if (fd == 1) {
    pthread_mutex_lock(&lock);
    record('a', "stdout", 0, data, size);
    pthread_mutex_unlock(&lock);
  }
  return real(fd, data, size);
}
