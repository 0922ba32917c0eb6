/* Waits for the end of its input; linked statically, so nothing can be loaded into it. */
#include <unistd.h>

int main(void) {
  char byte;
  while (read(0, &byte, 1) > 0) {
  }
  return 0;
}
