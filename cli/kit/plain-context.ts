import type { Command } from 'commander'
import { asTyped } from '../base/command-hints.ts'
import type { CommandResult, Runtime } from './context.ts'
import { EXIT } from '../base/exit-codes.ts'
import { withHelp } from './flag-errors.ts'
import { checkColorOfEnvironment, fieldsOf, modeOfEnvironment, readGlobalOptions } from './global-options.ts'
import type { GlobalOptions } from './global-options.ts'
import { paintFor } from '../base/io.ts'
import type { Io, Paint } from '../base/io.ts'
import { isJson } from '../base/output-modes.ts'
import { makePrinter } from '../output/output.ts'
import type { Printer } from '../output/output.ts'
import { pagedIo } from '../output/pager.ts'

export type PlainContext = {
  io: Io
  print: Printer
  paint: Paint
  json: boolean
  /**
   * A line for people on standard error, commands in it as they have to be typed; left out with JSON, where standard
   * error holds nothing but an error.
   */
  note(text: string): void
}

/** Runs a command that needs no service: little is loaded for it. */
export async function inPlainContext(
  runtime: Runtime,
  command: Command,
  run: (context: PlainContext) => Promise<CommandResult> | CommandResult,
): Promise<void> {
  const { context, options } = makePlainContext(runtime, command.optsWithGlobals())
  runtime.given = options
  try {
    runtime.exitCode = (await run(context)) ?? EXIT.ok
  } catch (error) {
    throw withHelp(error, command)
  }
}

/** @param given the options as commander has them */
export function makePlainContext(
  { io, pager }: Pick<Runtime, 'io' | 'pager'>,
  given: object,
): { context: PlainContext; options: GlobalOptions } {
  const options = readGlobalOptions(given)
  checkColorOfEnvironment(io.env)
  const { query } = options
  // `-o csv --json=a,b` is CSV with these members.
  const mode = options.output ?? (options.json === undefined ? modeOfEnvironment(io.env) : 'json')
  const usedPager = mode === 'table' && query === undefined && !isLive(given) ? pager : undefined
  const json = isJson(options, io.env)
  const context: PlainContext = {
    io,
    print: makePrinter(io, {
      mode,
      fields: fieldsOf(options.json),
      query,
      paged: pagedIo(io, usedPager),
      header: options.header,
      paint: paintFor(io, 'stdout', options.color),
    }),
    paint: paintFor(io, 'stderr', options.color),
    json,
    note(text) {
      if (json) return
      const write = (): void => io.stderr.write(`${asTyped(text, io.calledAs, options)}\n`)
      if (usedPager === undefined) write()
      else usedPager.after(write)
    },
  }
  return { context, options }
}

/** Whether the command prints as things happen: a pager would show nothing before the end. */
function isLive(given: object): boolean {
  return ![undefined, false].includes(Reflect.get(given, 'follow'))
}
