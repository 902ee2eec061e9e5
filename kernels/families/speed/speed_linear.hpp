// SPDX-License-Identifier: BSD-2-Clause-Patent
// Linear algebra of one plane: eigenvalues of its 25 x 25 covariance, and the solution of covariance * X = blocks. All
// in single precision in libvmaf's order, which decides about planes that are nearly singular.
//
// The functions run on a team of threads: team.each(n, f) calls f(0) ... f(n - 1) in any order, team.once(f) calls f(),
// and both return when all is done and seen by the whole team. In the CPU reference a team is one thread, in
// a kernel a warp or some warps (device/block.hpp). G. Golub, C. Van Loan, "Matrix Computations", chapters 5 and 8.
#pragma once

#include "families/speed/speed_math.hpp"

namespace qc::speed {

/// The team of the CPU reference.
struct SerialTeam {
    template <class F>
    QC_HD void each(int count, const F& f) const {
        for (int i = 0; i < count; ++i) f(i);
    }
    template <class F>
    QC_HD void once(const F& f) const {
        f();
    }
};

struct Matrix {
    float at[kDimensions][kDimensions];
};

/// start + term(first) + term(first + 1) + ... + term(kDimensions - 1), added in this order. A device asks for all
/// terms, so that loads need not wait for each other, and leaves out what comes before the first.
template <class Term>
QC_HD float ordered_sum(int first, const Term& term, float start = 0.0f) {
    float sum = start;
#if defined(__CUDA_ARCH__)
    QC_UNROLL
    for (int k = 0; k < kDimensions; ++k) {
        const float value = term(k);
        if (k >= first) sum += value;
    }
#else
    for (int k = first; k < kDimensions; ++k) sum += term(k);
#endif
    return sum;
}

// ---- eigenvalues ----------------------------------------------------------------------------------------------------

/// Room for the eigenvalue iteration.
struct EigenWork {
    Matrix a;
    float diagonal[kDimensions]; ///< in the end the eigenvalues
    float off_diagonal[kDimensions];
    float v[kDimensions], x[kDimensions];
    float tau[kDimensions], divisor[kDimensions], beta[kDimensions], gamma[kDimensions];
    bool reflected[kDimensions];
    int begin, end; ///< block of the tridiagonal matrix that is being worked on; end 0: finished
    int steps;
    bool regular;
};

/// Householder's reduction to tridiagonal form of work.a, columns 0 to 22.
template <class Team>
QC_HD void tridiagonalise(const Team& team, EigenWork& work) {
    constexpr int n = kDimensions;
    for (int i = 0; i <= n - 3; ++i) {
        const int first = i + 1; // row and column from which on this step changes the matrix
        team.once([&] {
            const float norm = sqrtf(ordered_sum(i + 2, [&](int r) { return work.a.at[r][i] * work.a.at[r][i]; }));
            const float alpha = work.a.at[first][i];
            work.reflected[i] = norm != 0.0f;
            work.off_diagonal[i] = alpha;
            if (norm == 0.0f) return;
            const float length = sqrtf(alpha * alpha + norm * norm);
            const float beta = alpha >= 0.0f ? -length : length;
            work.tau[i] = (beta - alpha) / beta;
            work.divisor[i] = alpha - beta;
            if (work.divisor[i] != 0.0f) work.off_diagonal[i] = beta;
        });
        if (!work.reflected[i]) continue;
        const float tau = work.tau[i], divisor = work.divisor[i];
        team.each(n - first, [&](int k) {
            const int r = first + k;
            const float below = divisor != 0.0f ? work.a.at[r][i] / divisor : work.a.at[r][i];
            work.v[r] = r == first ? 1.0f : below;
        });
        team.each(n - first, [&](int k) {
            const int r = first + k;
            work.x[r] = ordered_sum(first, [&](int c) { return (tau * work.a.at[r][c]) * work.v[c]; });
        });
        team.once([&] {
            const float sum = ordered_sum(first, [&](int r) { return work.x[r] * work.v[r]; });
            work.gamma[i] = static_cast<float>(-0.5 * static_cast<double>(tau) * static_cast<double>(sum));
        });
        const float gamma = work.gamma[i];
        team.each(n - first, [&](int k) { work.x[first + k] += gamma * work.v[first + k]; });
        team.each(n - first, [&](int k) {
            const int r = first + k;
            const float xr = work.x[r], vr = work.v[r];
#if defined(__CUDA_ARCH__)
            QC_UNROLL_BY(8)
#endif
            for (int c = first; c < n; ++c) work.a.at[r][c] -= (xr * work.v[c] + vr * work.x[c]);
        });
    }
    team.each(n, [&](int k) {
        work.diagonal[k] = work.a.at[k][k];
        if (k == n - 2) work.off_diagonal[k] = work.a.at[n - 1][k];
    });
}

/// Drops what is too small against its neighbours on the diagonal.
QC_HD void chop(const float* diagonal, float* off_diagonal, int i) {
    const float neighbours = fabsf(diagonal[i]) + fabsf(diagonal[i + 1]);
    if (static_cast<double>(fabsf(off_diagonal[i])) < 1e-6 * static_cast<double>(neighbours)) off_diagonal[i] = 0.0f;
}

/// Number of binary digits of a word, 0 of 0.
QC_HD int digits_of(uint32_t word) {
#if defined(__CUDA_ARCH__)
    return 32 - __clz(static_cast<int>(word));
#else
    int digits = 0;
    for (; word != 0; word >>= 1) ++digits;
    return digits;
#endif
}

/// The last block of the tridiagonal matrix that is not diagonal yet: work.begin to work.end, whose off-diagonal
/// elements are all other than 0. @return whether there is one; if not, work.end is 0
QC_HD bool find_block(EigenWork& work) {
    uint32_t others = 0; // bit k: element k is not 0
    QC_UNROLL
    for (int k = 0; k < kDimensions - 1; ++k) others |= work.off_diagonal[k] != 0.0f ? 1u << k : 0u;
    others &= (1u << work.end) - 1;
    work.end = digits_of(others);
    if (work.end == 0) return false;
    work.begin = digits_of(~others & ((1u << (work.end - 1)) - 1));
    return true;
}

/// Wilkinson's shift from the last 2 x 2 block.
QC_HD float shift_of(const float* d, const float* e, int m) {
    const float ta = d[m - 2], tb = d[m - 1], u = e[m - 2];
    const float delta = (ta - tb) / 2.0f;
    const float hypotenuse = sqrtf(delta * delta + u * u);
    float mu = 0.0f;
    if (delta > 0.0f)
        mu = tb - u * (u / (delta + hypotenuse));
    else if (delta == 0.0f)
        mu = tb - fabsf(u);
    else
        mu = tb + u * (u / (-delta + hypotenuse));
    const double reach = fabs(static_cast<double>(d[0])) + fabs(static_cast<double>(e[0]));
    return 1e-6 * fabs(static_cast<double>(mu)) > reach ? 0.0f : mu;
}

/// One implicit QR step on a tridiagonal block of m rows: a chain of rotations chases the bulge off the end.
QC_HD void qr_step(float* d, float* e, int m) {
    float x = d[0] - shift_of(d, e, m);
    float z = e[0];
    float before = 0.0f, bulge = 0.0f; // off-diagonal element above the rotation, and the one that does not belong
    float p = d[0], w = e[0], q = d[1], next = m > 2 ? e[1] : 0.0f;
    for (int k = 0; k <= m - 2; ++k) {
        float c = 1.0f, s = 0.0f;
        if (z != 0.0f) {
            const bool steep = fabsf(z) > fabsf(x);
            const float t = -(steep ? x : z) / (steep ? z : x);
            const float major = inverse_root(1.0f + t * t);
            const float minor = major * t;
            c = steep ? minor : major;
            s = steep ? major : minor;
        }
        const float above = c * before - s * bulge;
        const float new_p = c * (c * p - s * w) + s * (s * q - c * w);
        const float new_w = c * (s * p + c * w) - s * (s * w + c * q);
        const float new_q = s * (s * p + c * w) + c * (s * w + c * q);
        bulge = -s * next;
        next = c * next;
        d[k] = new_p;
        if (k > 0) e[k - 1] = above;
        before = new_w;
        p = new_q;
        w = next;
        if (k < m - 2) {
            e[k + 1] = w;
            q = d[k + 2];
        }
        if (k < m - 3) next = e[k + 2];
        x = before;
        z = bulge;
    }
    d[m - 1] = p;
    e[m - 2] = before;
}

/// Eigenvalues of work.a into work.diagonal, unsorted, and whether all of them are large enough.
template <class Team>
QC_HD void find_eigenvalues(const Team& team, EigenWork& work) {
    constexpr int kMaxSteps = 500;
    tridiagonalise(team, work);
    // Element by element, in the order of a single thread: each looks at the diagonal only.
    team.each(kDimensions - 1, [&](int i) { chop(work.diagonal, work.off_diagonal, i); });
    team.once([&] {
        work.end = kDimensions - 1;
        work.steps = 0;
    });
    for (;;) {
        team.once([&] {
            if (!find_block(work) || work.steps == kMaxSteps) {
                work.end = 0;
                return;
            }
            ++work.steps;
            qr_step(work.diagonal + work.begin, work.off_diagonal + work.begin, work.end - work.begin + 1);
        });
        if (work.end == 0) break;
        const int begin = work.begin;
        team.each(work.end - begin, [&](int i) { chop(work.diagonal, work.off_diagonal, begin + i); });
    }
    team.once([&] {
        work.regular = true;
        for (int k = 0; k < kDimensions; ++k)
            if (!(static_cast<double>(work.diagonal[k]) >= kSmallest)) work.regular = false;
    });
}

// ---- factorisation --------------------------------------------------------------------------------------------------

constexpr int kWideColumns = 2 * kDimensions; ///< the matrix being reduced, and the product of the reflections

/// Room for the factorisation.
struct FactorWork {
    float wide[2][kDimensions][kWideColumns]; ///< taken in turns: one is read while the other is written
    float v[kDimensions];
    float norm;
    Matrix q, r; ///< q * covariance = r, of which only the upper triangle is set
    bool regular;
};

/// Householder's factorisation of the covariance. A reflection leaves rows and columns above the current one alone, so
/// only the rest is computed: what is left out would multiply by exact zeros and ones.
template <class Team>
QC_HD void factorise(const Team& team, const Matrix& covariance, FactorWork& work) {
    constexpr int n = kDimensions;
    team.each(n * kWideColumns, [&](int i) {
        const int row = i / kWideColumns, column = i % kWideColumns;
        work.wide[0][row][column] = column < n ? covariance.at[row][column] : (row == column - n ? 1.0f : 0.0f);
    });
    for (int k = 0; k < n - 1; ++k) {
        const auto& current = work.wide[k % 2];
        auto& updated = work.wide[1 - k % 2];
        team.once([&] {
            const auto square = [&](int i) { return current[i][k] * current[i][k]; };
            const float norm = sqrtf(ordered_sum(k, square));
            const float pivot = covariance.at[k][k] < 0.0f ? current[k][k] - norm : current[k][k] + norm;
            work.v[k] = pivot;
            work.norm = sqrtf(ordered_sum(k + 1, square, pivot * pivot));
        });
        const float norm = work.norm;
        team.each(n - k, [&](int i) { work.v[k + i] = (i == 0 ? work.v[k] : current[k + i][k]) / norm; });
        team.each((n - k) * kWideColumns, [&](int index) {
            const int i = k + index / kWideColumns, j = index % kWideColumns;
            if (j <= k) return; // columns of the matrix that are not looked at again
            const float twice = -2.0f * work.v[i];
            float sum = 0.0f;
#if defined(__CUDA_ARCH__)
            QC_UNROLL_BY(5)
#endif
            for (int c = k; c < n; ++c) {
                float reflection = twice * work.v[c];
                if (c == i) reflection += 1.0f;
                sum += reflection * current[c][j];
            }
            updated[i][j] = sum;
            if (j >= n && (i == k || k == n - 2)) work.q.at[i][j - n] = sum; // the row is final
        });
    }
    team.each(n * n, [&](int index) {
        const int i = index / n, j = index % n;
        if (j < i) return;
        float sum = 0.0f;
        for (int c = 0; c < n; ++c) sum += work.q.at[i][c] * covariance.at[c][j];
        work.r.at[i][j] = sum;
    });
    team.once([&] {
        work.regular = true;
        for (int i = 0; i < n; ++i)
            if (fabs(static_cast<double>(work.r.at[i][i])) < kSmallest) work.regular = false;
    });
}

/// Energy of one block: mean of x * b with covariance * x = b. sample(o) is coefficient o of the block.
template <class Sample>
QC_HD float block_energy(const FactorWork& work, const Sample& sample) {
    constexpr int n = kDimensions;
    float y[n];
    QC_UNROLL
    for (int i = 0; i < n; ++i) y[i] = 0.0f;
#if defined(__CUDA_ARCH__)
    QC_UNROLL_BY(5) // samples are fetched ahead
#endif
    for (int k = 0; k < n; ++k) {
        const float b = sample(k);
        QC_UNROLL
        for (int i = 0; i < n; ++i) y[i] += work.q.at[i][k] * b;
    }
    QC_UNROLL
    for (int i = n - 1; i >= 0; --i) {
        float t = y[i];
        QC_UNROLL
        for (int k = i + 1; k < n; ++k) t -= y[k] * work.r.at[i][k];
        y[i] = t / work.r.at[i][i];
    }
    float energy = 0.0f;
    QC_UNROLL
    for (int o = 0; o < n; ++o) energy += (y[o] * sample(o)) / 25.0f;
    return energy;
}

} // namespace qc::speed
