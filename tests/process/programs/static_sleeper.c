/* Gives its input back, and waits for its end; linked statically, so nothing can be loaded into it. */
#include <unistd.h>

int main(void) {
  char byte;
  while (read(0, &byte, 1) > 0 && write(1, &byte, 1) == 1) {
  }
  return 0;
}
