// Stands in for Thrust.
#pragma once
#include <functional>

namespace thrust {
using std::divides;
using std::equal_to;
using std::greater;
using std::less;
using std::minus;
using std::multiplies;
using std::negate;
using std::plus;
}  // namespace thrust
