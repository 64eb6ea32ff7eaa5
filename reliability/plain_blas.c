// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices by three loops, in the place of NumPy's library: another order of every sum.
//
//   cc -O1 -shared -fPIC plain_blas.c -o plain_blas.so && LD_PRELOAD=plain_blas.so python ...
//
// Names and 64-bit indices are those of the library that NumPy's wheels bring.
#include <stdint.h>

typedef int64_t whole;
enum { ROWS = 101, TRANSPOSED = 112, UPPER = 121 };
whole plain_blas_calls = 0;

#define AT(M, ld, rows, turned, i, j) M[((rows) != (turned)) ? (i) * (ld) + (j) : (j) * (ld) + (i)]

#define FAMILY(T, p)                                                                               \
  void scipy_cblas_##p##gemm64_(int order, int ta, int tb, whole m, whole n, whole k, T alpha,     \
                                const T *A, whole lda, const T *B, whole ldb, T beta, T *C,        \
                                whole ldc) {                                                       \
    int rows = order == ROWS;                                                                      \
    plain_blas_calls++;                                                                            \
    for (whole i = 0; i < m; i++)                                                                  \
      for (whole j = 0; j < n; j++) {                                                              \
        T sum = 0;                                                                                 \
        for (whole l = k - 1; l >= 0; l--)                                                         \
          sum += AT(A, lda, rows, ta >= TRANSPOSED, i, l) * AT(B, ldb, rows, tb >= TRANSPOSED, l, j); \
        T *c = &AT(C, ldc, rows, 0, i, j);                                                         \
        *c = alpha * sum + (beta == 0 ? 0 : beta * *c);                                            \
      }                                                                                            \
  }                                                                                                \
  void scipy_cblas_##p##syrk64_(int order, int part, int ta, whole n, whole k, T alpha,            \
                                const T *A, whole lda, T beta, T *C, whole ldc) {                  \
    int rows = order == ROWS;                                                                      \
    plain_blas_calls++;                                                                            \
    for (whole i = 0; i < n; i++)                                                                  \
      for (whole j = part == UPPER ? i : 0; j < (part == UPPER ? n : i + 1); j++) {                \
        T sum = 0;                                                                                 \
        for (whole l = k - 1; l >= 0; l--)                                                         \
          sum += AT(A, lda, rows, ta >= TRANSPOSED, i, l) * AT(A, lda, rows, ta >= TRANSPOSED, j, l); \
        T *c = &AT(C, ldc, rows, 0, i, j);                                                         \
        *c = alpha * sum + (beta == 0 ? 0 : beta * *c);                                            \
      }                                                                                            \
  }                                                                                                \
  void scipy_cblas_##p##gemv64_(int order, int ta, whole m, whole n, T alpha, const T *A,          \
                                whole lda, const T *x, whole incx, T beta, T *y, whole incy) {     \
    int rows = order == ROWS, turned = ta >= TRANSPOSED;                                           \
    whole out = turned ? n : m, in = turned ? m : n;                                               \
    plain_blas_calls++;                                                                            \
    for (whole i = 0; i < out; i++) {                                                              \
      T sum = 0;                                                                                   \
      for (whole l = in - 1; l >= 0; l--)                                                          \
        sum += AT(A, lda, rows, turned, i, l) * x[(incx < 0 ? l - in + 1 : l) * incx];             \
      T *c = &y[(incy < 0 ? i - out + 1 : i) * incy];                                              \
      *c = alpha * sum + (beta == 0 ? 0 : beta * *c);                                              \
    }                                                                                              \
  }                                                                                                \
  T scipy_cblas_##p##dot64_(whole n, const T *x, whole incx, const T *y, whole incy) {             \
    T sum = 0;                                                                                     \
    plain_blas_calls++;                                                                            \
    for (whole l = n - 1; l >= 0; l--)                                                             \
      sum += x[(incx < 0 ? l - n + 1 : l) * incx] * y[(incy < 0 ? l - n + 1 : l) * incy];          \
    return sum;                                                                                    \
  }

FAMILY(double, d)
FAMILY(float, s)
