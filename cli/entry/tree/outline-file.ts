import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Outline } from './outline.ts'

const FILE = join(import.meta.dirname, 'outlines.jsonl')

/** Finds the outline of a noun; undefined where it has to be loaded itself. */
export type FindOutline = (noun: string) => Outline | undefined

/** The outlines that the build wrote beside this file; none in a checkout. A line each, so that only one is parsed. */
export function readOutlines(): FindOutline {
  let lines: readonly string[] | undefined
  return (noun) => {
    lines ??= readLines()
    const line = lines.find((each) => each.startsWith(`{"name":"${noun}",`))
    // Written by the same build.
    return line === undefined ? undefined : (JSON.parse(line) as Outline)
  }
}

function readLines(): string[] {
  try {
    return readFileSync(FILE, 'utf8').split('\n')
  } catch {
    // Every noun is loaded itself.
    return []
  }
}

/** A part of the build. */
export function writeOutlines(outlines: readonly Outline[]): void {
  writeFileSync(FILE, outlines.map((outline) => `${JSON.stringify(outline)}\n`).join(''))
}
