#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write an int8 matrix-vector product as LLVM IR, with the weights in it.

    make.py rows > rows.ll        the weights lie row by row
    make.py columns > columns.ll  ... column by column

A block computes one product, a thread one of its 256 rows: 256 products of a
weight and an input are summed up in int32, and the sum is multiplied by the row's
scale. Everything is written as a loop that was unrolled has it: byte by byte, and
nothing says that a global is constant. gemv.c makes the same weights.
"""
import sys

ROWS = 256
COLUMNS = 256


def random_bytes(count, state):
    """The generator of gemv.c: both must give the same numbers."""
    for _ in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        yield state >> 24


def write_globals(write, layout):
    rows = bytes(random_bytes(ROWS * COLUMNS, 1))
    scales = [(byte + 1) / 65536 for byte in random_bytes(ROWS, 2)]
    weights = rows if layout == "rows" else bytes(
        rows[row * COLUMNS + column]
        for column in range(COLUMNS) for row in range(ROWS))
    text = "".join(f"\\{byte:02X}" for byte in weights)
    write(f"@weights = internal addrspace(1) global "
          f"[{ROWS * COLUMNS} x i8] c\"{text}\", align 16\n")
    # So many digits are exact.
    items = ", ".join(f"float {scale:.16e}" for scale in scales)
    write(f"@scales = internal addrspace(1) global "
          f"[{ROWS} x float] [{items}]\n\n")


def write_product(write, column, layout, total):
    """One column's; returns the sum so far."""
    distance = column if layout == "rows" else column * ROWS
    write(f"""\
  %wi{column} = add i64 %start, {distance}
  %wp{column} = getelementptr i8, ptr addrspace(1) @weights, i64 %wi{column}
  %w{column} = load i8, ptr addrspace(1) %wp{column}
  %xp{column} = getelementptr i8, ptr addrspace(1) %input, i64 {column}
  %x{column} = load i8, ptr addrspace(1) %xp{column}
  %we{column} = sext i8 %w{column} to i32
  %xe{column} = sext i8 %x{column} to i32
  %m{column} = mul i32 %we{column}, %xe{column}
  %s{column} = add i32 {total}, %m{column}
""")
    return f"%s{column}"


def main():
    layout = sys.argv[1]
    write = sys.stdout.write
    write_globals(write, layout)
    write(f"""\
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define ptx_kernel void @gemv(ptr addrspace(1) align 16 %x, ptr addrspace(1) align 16 %y) {{
  %row = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wide = zext i32 %row to i64
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %wide_block = zext i32 %block to i64
  %before = mul i64 %wide_block, {COLUMNS}
  %input = getelementptr i8, ptr addrspace(1) %x, i64 %before
  %start = mul i64 %wide, {COLUMNS if layout == "rows" else 1}
""")
    total = "0"
    for column in range(COLUMNS):
        total = write_product(write, column, layout, total)
    write(f"""\
  %sp = getelementptr float, ptr addrspace(1) @scales, i64 %wide
  %scale = load float, ptr addrspace(1) %sp
  %sum = sitofp i32 {total} to float
  %result = fmul float %sum, %scale
  %out = mul i64 %wide_block, {ROWS}
  %at = add i64 %out, %wide
  %yp = getelementptr float, ptr addrspace(1) %y, i64 %at
  store float %result, ptr addrspace(1) %yp
  ret void
}}
""")


main()
