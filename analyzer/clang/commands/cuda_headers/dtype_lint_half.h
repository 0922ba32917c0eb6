// What the two half types of the toolkit have in common: a class, a pair, and functions by one name for both.
#pragma once
#include <vector_types.h>

#define DTYPE_LINT_HALF_TYPES(Half, Pair, Raw, PairRaw)          \
  struct Raw {                                                   \
    unsigned short x;                                            \
  };                                                             \
  struct PairRaw {                                               \
    unsigned short x, y;                                         \
  };                                                             \
  struct Half {                                                  \
    Half() = default;                                            \
    Half(const Raw&);                                            \
    Half(float);                                                 \
    Half(double);                                                \
    Half(int);                                                   \
    Half(unsigned);                                              \
    Half(long);                                                  \
    Half(unsigned long);                                         \
    Half(long long);                                             \
    Half(unsigned long long);                                    \
    operator float() const;                                      \
    operator Raw() const;                                        \
    explicit operator bool() const;                              \
    Half& operator=(float);                                      \
    Half& operator=(double);                                     \
    Half& operator=(int);                                        \
    Half& operator=(const Raw&);                                 \
    unsigned short bits;                                         \
  };                                                             \
  struct Pair {                                                  \
    Half x, y;                                                   \
    Pair() = default;                                            \
    constexpr Pair(const Half& a, const Half& b) : x(a), y(b) {} \
    Pair(const PairRaw&);                                        \
    operator PairRaw() const;                                    \
  };

#define DTYPE_LINT_ARITHMETIC(T)       \
  T operator+(const T&, const T&);     \
  T operator-(const T&, const T&);     \
  T operator*(const T&, const T&);     \
  T operator/(const T&, const T&);     \
  T operator+(const T&);               \
  T operator-(const T&);               \
  T& operator+=(T&, const T&);         \
  T& operator-=(T&, const T&);         \
  T& operator*=(T&, const T&);         \
  T& operator/=(T&, const T&);         \
  bool operator==(const T&, const T&); \
  bool operator!=(const T&, const T&); \
  bool operator<(const T&, const T&);  \
  bool operator>(const T&, const T&);  \
  bool operator<=(const T&, const T&); \
  bool operator>=(const T&, const T&);

#define DTYPE_LINT_HALF_FUNCTIONS(Half, Pair) \
  Half __hadd(Half, Half);                    \
  Half __hsub(Half, Half);                    \
  Half __hmul(Half, Half);                    \
  Half __hdiv(Half, Half);                    \
  Half __hadd_rn(Half, Half);                 \
  Half __hsub_rn(Half, Half);                 \
  Half __hmul_rn(Half, Half);                 \
  Half __hfma(Half, Half, Half);              \
  Half __hfma_relu(Half, Half, Half);         \
  Half __hneg(Half);                          \
  Half __habs(Half);                          \
  Half __hmax(Half, Half);                    \
  Half __hmin(Half, Half);                    \
  Half __hmax_nan(Half, Half);                \
  Half __hmin_nan(Half, Half);                \
  bool __heq(Half, Half);                     \
  bool __hne(Half, Half);                     \
  bool __hlt(Half, Half);                     \
  bool __hle(Half, Half);                     \
  bool __hgt(Half, Half);                     \
  bool __hge(Half, Half);                     \
  bool __hisnan(Half);                        \
  int __hisinf(Half);                         \
  Half hexp(Half);                            \
  Half hexp2(Half);                           \
  Half hlog(Half);                            \
  Half hlog2(Half);                           \
  Half hsqrt(Half);                           \
  Half hrsqrt(Half);                          \
  Half hrcp(Half);                            \
  Half hsin(Half);                            \
  Half hcos(Half);                            \
  Half htanh(Half);                           \
  Half hfloor(Half);                          \
  Half hceil(Half);                           \
  Half hrint(Half);                           \
  Pair __hadd2(Pair, Pair);                   \
  Pair __hsub2(Pair, Pair);                   \
  Pair __hmul2(Pair, Pair);                   \
  Pair __h2div(Pair, Pair);                   \
  Pair __hadd2_rn(Pair, Pair);                \
  Pair __hmul2_rn(Pair, Pair);                \
  Pair __hfma2(Pair, Pair, Pair);             \
  Pair __hfma2_relu(Pair, Pair, Pair);        \
  Pair __hneg2(Pair);                         \
  Pair __habs2(Pair);                         \
  Pair __hmax2(Pair, Pair);                   \
  Pair __hmin2(Pair, Pair);                   \
  Pair __hmax2_nan(Pair, Pair);               \
  Pair __heq2(Pair, Pair);                    \
  Pair __hlt2(Pair, Pair);                    \
  Pair __hgt2(Pair, Pair);                    \
  unsigned __heq2_mask(Pair, Pair);           \
  Pair h2exp(Pair);                           \
  Pair h2exp2(Pair);                          \
  Pair h2log(Pair);                           \
  Pair h2rcp(Pair);                           \
  Pair h2sqrt(Pair);                          \
  Pair h2rsqrt(Pair);                         \
  Pair h2tanh(Pair);                          \
  float __low2float(Pair);                    \
  float __high2float(Pair);                   \
  Pair __lowhigh2highlow(Pair);
