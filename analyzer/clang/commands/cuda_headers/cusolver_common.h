// Stands in for the toolkit's header.
#pragma once
#include <cusolverDn.h>
