// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "core/base/bytes.h"

namespace assay::numerics {

/// Appends bits to a byte vector, lowest bit of each byte first.
class BitWriter {
public:
    explicit BitWriter(base::ByteVector& out) : m_out(out) {}

    /// The low `count` bits of `value`, lowest first. Preconditions: count <= 64, the bits above are 0.
    void put(std::uint64_t value, int count) {
        if (count > 32) {
            put(value & 0xFFFFFFFFU, 32);
            value >>= 32;
            count -= 32;
        }
        m_buffer |= value << m_used; // m_used <= 31 here, count <= 32
        m_used += count;
        if (m_used >= 32) {
            const std::size_t at = m_out.size();
            m_out.resize(at + 4);
            base::storeLe(m_out.data() + at, static_cast<std::uint32_t>(m_buffer));
            m_buffer >>= 32;
            m_used -= 32;
        }
    }
    /// `quotient` ones and a zero.
    void putUnary(std::uint64_t quotient) {
        for (; quotient >= 32; quotient -= 32) {
            put(0xFFFFFFFFU, 32);
        }
        put((1ULL << quotient) - 1U, static_cast<int>(quotient) + 1);
    }
    /// Writes what is buffered, the last byte filled up with zeros. The last call.
    void finish() {
        for (; m_used > 0; m_used -= 8, m_buffer >>= 8) {
            m_out.push_back(static_cast<std::uint8_t>(m_buffer));
        }
    }

private:
    base::ByteVector& m_out;
    std::uint64_t m_buffer = 0;
    int m_used = 0;
};

/// Reads what BitWriter wrote. Reading past the end gives zeros and sets overrun().
class BitReader {
public:
    explicit BitReader(base::ByteView bytes) : m_bytes(bytes) {}

    /// Precondition: count <= 64.
    [[nodiscard]] std::uint64_t get(int count) {
        if (count > 25) {
            const std::uint64_t low = get(25);
            return low | (get(count - 25) << 25);
        }
        refill();
        const std::uint64_t value = m_buffer & ((1ULL << count) - 1U);
        drop(count);
        return value;
    }
    /// Number of ones before the next zero, which is consumed too. Stops early, with a value above `limit`, when there
    /// are more than `limit` ones.
    [[nodiscard]] std::uint64_t getUnary(std::uint64_t limit) {
        std::uint64_t ones = 0;
        while (true) {
            refill();
            const int run = std::countr_one(m_buffer); // the buffer's unused high bits are zero
            if (run < m_held) {
                drop(run + 1);
                return ones + static_cast<std::uint64_t>(run);
            }
            if (m_held == 0) {
                m_overrun = true;
                return ones;
            }
            ones += static_cast<std::uint64_t>(m_held);
            drop(m_held);
            if (ones > limit) {
                return ones;
            }
        }
    }
    [[nodiscard]] bool overrun() const { return m_overrun; }
    /// Position of the next unread bit.
    [[nodiscard]] std::uint64_t bitPosition() const { return m_at * 8 - static_cast<std::uint64_t>(m_held); }

private:
    void refill() {
        if (m_held > 24) {
            return;
        }
        if (m_bytes.size() - m_at >= 4) {
            m_buffer |= static_cast<std::uint64_t>(base::loadLe<std::uint32_t>(m_bytes.data() + m_at)) << m_held;
            m_at += 4;
            m_held += 32;
            return;
        }
        while (m_at < m_bytes.size()) {
            m_buffer |= static_cast<std::uint64_t>(m_bytes[m_at++]) << m_held;
            m_held += 8;
        }
    }
    void drop(int count) {
        if (count > m_held) {
            m_overrun = true;
            count = m_held;
        }
        m_buffer >>= count;
        m_held -= count;
    }

    base::ByteView m_bytes;
    std::uint64_t m_at = 0;
    std::uint64_t m_buffer = 0;
    int m_held = 0; ///< at most 56, so that shifts stay below 64
    bool m_overrun = false;
};

} // namespace assay::numerics
