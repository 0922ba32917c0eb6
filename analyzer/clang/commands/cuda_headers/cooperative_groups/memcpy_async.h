// Stands in for the toolkit's header.
#pragma once
#include <cooperative_groups.h>
