#include "other.h"

int other() { return 1; }
