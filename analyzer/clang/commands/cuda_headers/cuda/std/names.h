// libcudacxx's names are the standard library's.
#pragma once
namespace std {}
namespace cuda::std {
using namespace ::std;
}
