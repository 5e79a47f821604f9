/** A version's size in modules, and its codewords by purpose. */
export type Version = {
  version: number
  size: number
  blocks: number
  correction: number
  codewords: number
  data: number
}

/** The product in GF(256). */
function times(x: number, y: number): number {
  let product = 0
  for (let bit = 7; bit >= 0; bit -= 1) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((y >> bit) & 1) * x)
  return product
}

function divisor(degree: number): number[] {
  const result = [...Array.from({ length: degree - 1 }, () => 0), 1]
  for (let step = 0, root = 1; step < degree; step += 1, root = times(root, 2)) {
    result.forEach((value, index) => (result[index] = times(value, root) ^ (result[index + 1] ?? 0)))
  }
  return result
}

function remainder(data: readonly number[], by: readonly number[]): number[] {
  const result = by.map(() => 0)
  for (const each of data) {
    const factor = each ^ (result.shift() ?? 0)
    result.push(0)
    by.forEach((value, index) => (result[index] = (result[index] ?? 0) ^ times(value, factor)))
  }
  return result
}

/** Interleaves data and correction codewords, so that damage to the code affects each block only a little. */
export function interleave(data: readonly number[], { blocks, correction, codewords }: Version): number[] {
  const by = divisor(correction)
  const short = Math.floor(codewords / blocks) - correction
  const shortBlocks = blocks - (codewords % blocks)
  const parts: number[][] = []
  for (let block = 0, at = 0; block < blocks; block += 1) {
    const end = at + short + (block < shortBlocks ? 0 : 1)
    parts.push(data.slice(at, end))
    at = end
  }
  const across = (columns: readonly number[][], length: number): number[] =>
    Array.from({ length }, (_, row) => columns.flatMap((column) => column.slice(row, row + 1))).flat()
  const corrections = parts.map((part) => remainder(part, by))
  return [...across(parts, short + 1), ...across(corrections, correction)]
}
