import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawn } from '@lydell/node-pty'
import xterm from '@xterm/headless'
import type { IBufferCell } from '@xterm/headless'
import { packageRoot } from '../../src/lib/package-root.ts'

/*
 * Takes the picture of the console that README.md shows: the console runs in a pseudo-terminal beside a service
 * that `svc up --seed demo` has filled, and its screen becomes an SVG. By hand, for the numbers differ each time:
 *
 *   node docs/generate/picture.ts <state directory>
 */
const COLUMNS = 96
const ROWS = 24
const CELL_WIDTH = 8.4
const LINE_HEIGHT = 18
const MARGIN = 14
const FILL = '#0d1117'
const TEXT = '#c9d1d9'
const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace'
const PALETTE = ['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#c9d1d9']
const TIMEOUT_MS = 60_000

/** One run of characters that look alike. */
type Run = { column: number; text: string; style: string }

function styleOf(cell: IBufferCell): string {
  const color = cell.isFgPalette() ? (PALETTE[cell.getFgColor() % 8] ?? TEXT) : TEXT
  return [
    `fill="${color}"`,
    cell.isBold() !== 0 || cell.isInverse() !== 0 ? 'font-weight="bold"' : '',
    cell.isDim() !== 0 ? 'opacity="0.7"' : '',
  ]
    .filter((part) => part !== '')
    .join(' ')
}

function runsOf(terminal: InstanceType<typeof xterm.Terminal>, row: number): Run[] {
  const line = terminal.buffer.active.getLine(terminal.buffer.active.baseY + row)
  const runs: Run[] = []
  for (let column = 0; column < terminal.cols; column += 1) {
    const cell = line?.getCell(column)
    if (cell === undefined) continue
    const text = cell.getChars() === '' ? ' ' : cell.getChars()
    const style = styleOf(cell)
    const last = runs.at(-1)
    if (last !== undefined && last.style === style) last.text += text
    else runs.push({ column, text, style })
  }
  return runs.filter(({ text }) => text.trim() !== '')
}

function textOf(terminal: InstanceType<typeof xterm.Terminal>): string {
  return Array.from({ length: ROWS }, (_, row) => runsOf(terminal, row).map(({ text }) => text)).join('\n')
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function toSvg(terminal: InstanceType<typeof xterm.Terminal>): string {
  const width = Math.ceil(COLUMNS * CELL_WIDTH + 2 * MARGIN)
  const height = ROWS * LINE_HEIGHT + 2 * MARGIN
  const lines = Array.from({ length: ROWS }, (_, row) => {
    const y = MARGIN + (row + 0.75) * LINE_HEIGHT
    return runsOf(terminal, row).flatMap(({ column, text, style }) =>
      // Each piece has its own place: a viewer may make one space of several.
      Array.from(text.matchAll(/\S+(?: \S+)*/g), ({ 0: piece, index }) => {
        const x = (MARGIN + (column + index) * CELL_WIDTH).toFixed(1)
        const length = (piece.length * CELL_WIDTH).toFixed(1)
        return `<text x="${x}" y="${y}" textLength="${length}" ${style}>${escape(piece)}</text>`
      }),
    )
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The overview of the svc console">`,
    `<rect width="${width}" height="${height}" rx="8" fill="${FILL}"/>`,
    `<g font-family="${FONT}" font-size="14">`,
    ...lines.flat(),
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

async function main([stateDirectory = '.svc']: readonly string[]): Promise<void> {
  const terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true })
  const program = join(packageRoot(), 'bin', 'svc.js')
  const pty = spawn(process.execPath, [program, 'ui', '--state-dir', stateDirectory], {
    cols: COLUMNS,
    rows: ROWS,
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', LANG: 'C.UTF-8', HOME: '/nowhere' },
  })
  pty.onData((text) => terminal.write(text))
  const deadline = performance.now() + TIMEOUT_MS
  while (!/fresh[^]*Refunded/.test(textOf(terminal)) && performance.now() < deadline) await sleep(100)
  const file = join(packageRoot(), 'docs', 'images', 'console.svg')
  writeFileSync(file, toSvg(terminal))
  pty.kill()
  process.stdout.write(`Wrote ${file}\n`)
  process.exit(0)
}

await main(process.argv.slice(2))
