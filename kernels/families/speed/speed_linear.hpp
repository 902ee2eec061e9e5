// SPDX-License-Identifier: BSD-2-Clause-Patent
// Linear algebra of one plane: eigenvalues of its 25 x 25 covariance, and the solution of covariance * X = blocks. All
// in single precision in libvmaf's order, which decides about planes that are nearly singular.
//
// The functions run on a team of threads: team.each(n, f) calls f(0) ... f(n - 1) in any order, team.once(f) calls f(),
// team.vote(n, f) gives the bits f(0) ... f(n - 1), and all return when all is done and seen by the whole team. In the
// CPU reference a team is one thread, in a kernel a warp or some warps (device/block.hpp). G. Golub, C. Van Loan,
// "Matrix Computations", chapters 5 and 8.
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
    template <class F>
    QC_HD uint32_t vote(int count, const F& f) const {
        uint32_t votes = 0;
        for (int i = 0; i < count; ++i) votes |= static_cast<uint32_t>(f(i)) << i;
        return votes;
    }
};

struct Matrix {
    float at[kDimensions][kDimensions];
};

/// start + term(first) + term(first + 1) + ... + term(kDimensions - 1), added in this order. A device asks for all
/// terms, so that loads need not wait for each other, and adds zeros for what comes before the first: then the chain is
/// one of additions alone, and no sum here is a negative zero.
template <class Term>
QC_HD float ordered_sum(int first, const Term& term, float start = 0.0f) {
    float sum = start;
#if defined(__CUDA_ARCH__)
    QC_UNROLL
    for (int k = 0; k < kDimensions; ++k) {
        const float value = term(k);
        sum += k >= first ? value : 0.0f;
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
    float next_diagonal[kDimensions], next_off_diagonal[kDimensions]; ///< of the block, after a step
    bool regular;
};

/// Householder's reduction to tridiagonal form of work.a, columns 0 to 22, into work.next_diagonal and
/// next_off_diagonal. What a step needs of its column and of the vectors' product every thread finds for itself.
template <class Team>
QC_HD void tridiagonalise(const Team& team, EigenWork& work) {
    constexpr int n = kDimensions;
    for (int i = 0; i <= n - 3; ++i) {
        const int first = i + 1; // row and column from which on this step changes the matrix
        const float norm = sqrtf(ordered_sum(i + 2, [&](int r) { return work.a.at[r][i] * work.a.at[r][i]; }));
        const float alpha = work.a.at[first][i];
        if (norm == 0.0f) {
            team.once([&] { work.next_off_diagonal[i] = alpha; });
            continue;
        }
        const float length = sqrtf(alpha * alpha + norm * norm);
        const float beta = alpha >= 0.0f ? -length : length;
        const float tau = (beta - alpha) / beta, divisor = alpha - beta;
        team.each(n - first, [&](int k) {
            const int r = first + k;
            const float below = divisor != 0.0f ? work.a.at[r][i] / divisor : work.a.at[r][i];
            work.v[r] = r == first ? 1.0f : below;
            if (r == first) work.next_off_diagonal[i] = divisor != 0.0f ? beta : alpha;
        });
        team.each(n - first, [&](int k) {
            const int r = first + k;
            work.x[r] = ordered_sum(first, [&](int c) { return (tau * work.a.at[r][c]) * work.v[c]; });
        });
        const float product = ordered_sum(first, [&](int r) { return work.x[r] * work.v[r]; });
        const float gamma = (-0.5f * tau) * product; // tau is in [1, 2]: halving it is exact
        const auto moved = [&](int r) { return work.x[r] + gamma * work.v[r]; };
        team.each(n - first, [&](int k) {
            const int r = first + k;
            const float xr = moved(r), vr = work.v[r];
#if defined(__CUDA_ARCH__)
            QC_UNROLL_BY(8)
#endif
            for (int c = first; c < n; ++c) work.a.at[r][c] -= (xr * work.v[c] + vr * moved(c));
        });
    }
    team.each(n, [&](int k) {
        work.next_diagonal[k] = work.a.at[k][k];
        if (k == n - 2) work.next_off_diagonal[k] = work.a.at[n - 1][k];
    });
}

/// An element beside the diagonal, dropped if it is too small against its neighbours on it.
QC_HD float chopped(float element, float above, float below) {
    const float neighbours = fabsf(above) + fabsf(below);
    return static_cast<double>(fabsf(element)) < 1e-6 * static_cast<double>(neighbours) ? 0.0f : element;
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

/// A rotation in the plane of two rows.
struct Rotation {
    float c, s;
};

/// The rotation that makes z vanish beside x.
QC_HD Rotation rotation_of(float x, float z) {
    if (z == 0.0f) return {1.0f, 0.0f};
    const bool steep = fabsf(z) > fabsf(x);
    const float t = -(steep ? x : z) / (steep ? z : x);
    const float major = inverse_root(1.0f + t * t);
    const float minor = major * t;
    return {steep ? minor : major, steep ? major : minor};
}

/// One implicit QR step on a tridiagonal block of m rows: a chain of rotations chases the bulge off the end.
QC_HD void qr_step(float* d, float* e, int m) {
    float before = d[0] - shift_of(d, e, m), bulge = e[0]; // what the rotation acts upon
    float p = d[0], w = e[0], q = d[1], next = m > 2 ? e[1] : 0.0f;
    for (int k = 0; k <= m - 2; ++k) {
        const auto [c, s] = rotation_of(before, bulge);
        if (k > 0) e[k - 1] = c * before - s * bulge;
        d[k] = c * (c * p - s * w) + s * (s * q - c * w);
        before = c * (s * p + c * w) - s * (s * w + c * q);
        p = s * (s * p + c * w) + c * (s * w + c * q);
        bulge = -s * next;
        w = c * next;
        if (k < m - 2) q = d[k + 2];
        if (k < m - 3) next = e[k + 2];
    }
    d[m - 1] = p;
    e[m - 2] = before;
}

/// The special function unit's guesses.
struct DeviceGuesses {
    QC_HD static float reciprocal(float x) { return device::fast_reciprocal(x); }
    QC_HD static float inverse_root(float x) { return device::fast_inverse_root(x); }
};

/// The same step, made for one thread that waits for nothing but its own results: the chain from one rotation to the
/// next is as short as it can be with the same roundings. Quotients come from a guess and one correction, roots from a
/// guess that is made beside the division. The larger and the smaller of a rotation's numbers take the places of its
/// cosine and sine, for which is which is known early: both forms add the same products, up to the sign of a sum.
/// @return whether all results are surely the bits of qr_step(); if not they are of no use
template <class Guesses>
QC_HD bool qr_step_from(const Guesses& guesses, const float* d, const float* e, int m, float* next_d, float* next_e) {
    constexpr float kLargest = 0x1p60f, kLeast = 0x1p-60f; // between them nothing below overflows or loses digits
    float before = d[0] - shift_of(d, e, m), bulge = e[0];
    float p = d[0], w = e[0], q = d[1], next = m > 2 ? e[1] : 0.0f;
    bool sure = true;
    QC_NO_UNROLL
    for (int k = 0; k <= m - 2; ++k) {
        const float q_after = k < m - 2 ? d[k + 2] : 0.0f, next_after = k < m - 3 ? e[k + 2] : 0.0f;
        const float x = fabsf(before), z = fabsf(bulge);
        const bool steep = z > x;
        const float large = fmaxf(x, z), small = fminf(x, z);
        const Quotient t = quotient_from(small, large, guesses.reciprocal(large));
        const float root = large * guesses.inverse_root(fmaf(before, before, bulge * bulge));
        const float square = 1.0f + t.value * t.value;
        const float major = inverse_root_from(square, root);
        // The guess may be twice as far off as inverse_root_from() allows, what it gives is not.
        sure &=
            (x < kLargest) & (z < kLargest) & (small > kLeast) & t.sure & (inverse_root_from(square, major) == major);
        const float minor = major * with_sign_of_minus(t.value, before, bulge);
        const float near = steep ? p : q, far = steep ? q : p;
        const float first = major * near + minor * w, second = major * w + minor * far;
        const float c = steep ? minor : major, s = steep ? major : minor;
        if (k > 0) next_e[k - 1] = c * before - s * bulge;
        next_d[k] = c * (c * p - s * w) + s * (s * q - c * w);
        const float difference = minor * first - major * second;
        before = steep ? difference : -difference;
        p = major * first + minor * second;
        bulge = -s * next;
        w = c * next;
        q = q_after;
        next = next_after;
    }
    next_d[m - 1] = p;
    next_e[m - 2] = before;
    return sure;
}

/// How a team's one thread makes a step on rows begin to end: into work.next_diagonal and next_off_diagonal.
struct PlainStep {
    QC_HD static void run(EigenWork& work, int begin, int end) {
        for (int k = begin; k <= end; ++k) {
            work.next_diagonal[k] = work.diagonal[k];
            if (k < end) work.next_off_diagonal[k] = work.off_diagonal[k];
        }
        qr_step(work.next_diagonal + begin, work.next_off_diagonal + begin, end - begin + 1);
    }
};
struct DeviceStep {
    QC_HD static void run(EigenWork& work, int begin, int end) {
        if (!qr_step_from(DeviceGuesses(), work.diagonal + begin, work.off_diagonal + begin, end - begin + 1,
                          work.next_diagonal + begin, work.next_off_diagonal + begin))
            PlainStep::run(work, begin, end);
    }
};

/// Takes over what a step has made of rows begin to end. @return bit k: off-diagonal element k is not 0
template <class Team>
QC_HD uint32_t take_over(const Team& team, EigenWork& work, int begin, int end) {
    return team.vote(kDimensions, [&](int k) {
        if (k >= begin && k <= end) work.diagonal[k] = work.next_diagonal[k];
        if (k >= begin && k < end)
            work.off_diagonal[k] = chopped(work.next_off_diagonal[k], work.next_diagonal[k], work.next_diagonal[k + 1]);
        return k < kDimensions - 1 && work.off_diagonal[k] != 0.0f;
    });
}

/// Eigenvalues of work.a into work.diagonal, unsorted, and whether all of them are large enough.
template <class Step, class Team>
QC_HD void find_eigenvalues(const Team& team, EigenWork& work) {
    constexpr int kMaxSteps = 500;
    tridiagonalise(team, work);
    uint32_t others = take_over(team, work, 0, kDimensions - 1);
    // The last block that is not diagonal yet is rows begin to end: all its off-diagonal elements are other than 0.
    int end = kDimensions - 1;
    for (int steps = 0; steps < kMaxSteps; ++steps) {
        others &= (1u << end) - 1;
        end = digits_of(others);
        if (end == 0) break;
        const int begin = digits_of(~others & ((1u << (end - 1)) - 1));
        team.once([&] { Step::run(work, begin, end); });
        others = take_over(team, work, begin, end);
    }
    const uint32_t small =
        team.vote(kDimensions, [&](int k) { return !(static_cast<double>(work.diagonal[k]) >= kSmallest); });
    team.once([&] { work.regular = small == 0; });
}

// ---- factorisation --------------------------------------------------------------------------------------------------

constexpr int kWideColumns = 2 * kDimensions; ///< the matrix being reduced, and the product of the reflections

/// Room for the factorisation.
struct FactorWork {
    float wide[2][kDimensions][kWideColumns]; ///< taken in turns: one is read while the other is written
    float v[kDimensions];
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
        const auto square = [&](int i) { return current[i][k] * current[i][k]; };
        const float length = sqrtf(ordered_sum(k, square)); // every thread finds it for itself
        const float pivot = covariance.at[k][k] < 0.0f ? current[k][k] - length : current[k][k] + length;
        const float norm = sqrtf(ordered_sum(k + 1, square, pivot * pivot));
        team.each(n - k, [&](int i) { work.v[k + i] = (i == 0 ? pivot : current[k + i][k]) / norm; });
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
