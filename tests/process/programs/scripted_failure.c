#include <stdlib.h>
#include <string.h>

#include "scripted_cupti.h"

int scripted_failure(const char* function, int failure) {
  static struct {
    const char* name;
    int calls;
  } counts[32];
  const char* wanted = getenv("SCRIPTED_FAIL");
  const size_t length = strlen(function);
  if (wanted == NULL || strncmp(wanted, function, length) != 0 || wanted[length] != ':') return 0;
  int at = 0;
  while (counts[at].name != NULL && strcmp(counts[at].name, function) != 0) ++at;
  counts[at].name = function;
  const int number = atoi(wanted + length + 1);
  return ++counts[at].calls == number || number == 0 ? failure : 0;
}
