// Stands in for Thrust: complex numbers, which ATen's headers use.
#pragma once
#include <complex>

#pragma clang force_cuda_host_device begin
namespace thrust {
template <class T>
struct complex {
  complex() = default;
  complex(const T& real);
  complex(const T& real, const T& imag);
  template <class U>
  complex(const complex<U>& other);
  template <class U>
  complex(const std::complex<U>& other);
  operator std::complex<T>() const;
  T real() const;
  T imag() const;
  void real(T);
  void imag(T);
};
#define DTYPE_LINT_OF_COMPLEX(name) \
  template <class T>                \
  complex<T> name(const complex<T>&);
DTYPE_LINT_OF_COMPLEX(acos)
DTYPE_LINT_OF_COMPLEX(acosh)
DTYPE_LINT_OF_COMPLEX(asin)
DTYPE_LINT_OF_COMPLEX(asinh)
DTYPE_LINT_OF_COMPLEX(atan)
DTYPE_LINT_OF_COMPLEX(atanh)
DTYPE_LINT_OF_COMPLEX(conj)
DTYPE_LINT_OF_COMPLEX(cos)
DTYPE_LINT_OF_COMPLEX(cosh)
DTYPE_LINT_OF_COMPLEX(exp)
DTYPE_LINT_OF_COMPLEX(log)
DTYPE_LINT_OF_COMPLEX(log10)
DTYPE_LINT_OF_COMPLEX(operator-)
DTYPE_LINT_OF_COMPLEX(proj)
DTYPE_LINT_OF_COMPLEX(sin)
DTYPE_LINT_OF_COMPLEX(sinh)
DTYPE_LINT_OF_COMPLEX(sqrt)
DTYPE_LINT_OF_COMPLEX(tan)
DTYPE_LINT_OF_COMPLEX(tanh)
#undef DTYPE_LINT_OF_COMPLEX
#define DTYPE_LINT_OF_TWO(name)                          \
  template <class T>                                     \
  complex<T> name(const complex<T>&, const complex<T>&); \
  template <class T>                                     \
  complex<T> name(const complex<T>&, const T&);          \
  template <class T>                                     \
  complex<T> name(const T&, const complex<T>&);
DTYPE_LINT_OF_TWO(operator+)
DTYPE_LINT_OF_TWO(operator-)
DTYPE_LINT_OF_TWO(operator*)
DTYPE_LINT_OF_TWO(operator/)
DTYPE_LINT_OF_TWO(pow)
#undef DTYPE_LINT_OF_TWO
template <class T>
T abs(const complex<T>&);
template <class T>
T arg(const complex<T>&);
template <class T>
T norm(const complex<T>&);
template <class T>
complex<T> polar(const T&, const T& = T());
}  // namespace thrust
#pragma clang force_cuda_host_device end
