/* SPDX-License-Identifier: Apache-2.0 */
/* First process of the guest: runs the commands of /w/commands, says on the serial line how each ended, and switches the
 * machine off. A line is "EXPECTED_EXIT PROGRAM ARGUMENT...", split at spaces. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { max_arguments = 64 };

/* The exit code as a shell would give it. */
static int run(char* const arguments[]) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execv(arguments[0], arguments);
    perror(arguments[0]);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 126;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void power_off(void) {
  fflush(stdout);
  fsync(STDOUT_FILENO);
  usleep(20000);
  /* The emulator ends when it sees this word on this port; the kernel's own ways need ACPI. */
  if (ioperm(0x8900, 1, 1) == 0) {
    for (const char* c = "Shutdown"; *c; c++) outb(*c, 0x8900);
  }
  reboot(RB_POWER_OFF);
  for (;;) pause();
}

int main(void) {
  mkdir("/proc", 0755);
  mkdir("/sys", 0755);
  mkdir("/dev", 0755);
  mkdir("/tmp", 01777);
  mount("none", "/proc", "proc", 0, 0);
  mount("none", "/sys", "sysfs", 0, 0);
  mount("none", "/dev", "devtmpfs", 0, 0);
  int serial = open("/dev/ttyS0", O_RDWR);
  if (serial >= 0) {
    dup2(serial, STDIN_FILENO);
    dup2(serial, STDOUT_FILENO);
    dup2(serial, STDERR_FILENO);
  }
  setenv("HOME", "/tmp", 1);
  setenv("TMPDIR", "/tmp", 1);

  int unexpected = 0, commands = 0;
  FILE* list = chdir("/w") == 0 ? fopen("commands", "r") : NULL;
  char line[4096], shown[4096];
  while (list && fgets(line, sizeof line, list)) {
    line[strcspn(line, "\n")] = '\0';
    strcpy(shown, line);
    char* words[max_arguments + 2];
    int count = 0;
    for (char* word = strtok(line, " "); word && count <= max_arguments; word = strtok(NULL, " ")) {
      words[count++] = word;
    }
    words[count] = NULL;
    if (count < 2) continue;
    int expected = atoi(words[0]);
    int code = run(words + 1);
    printf("\n== %d (expected %d): %s\n", code, expected, shown + strlen(words[0]) + 1);
    commands++;
    if (code != expected) unexpected++;
  }
  printf("\n== guest: %d commands, %d unexpected\n", commands, unexpected);
  power_off();
}
