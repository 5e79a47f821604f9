import type { Command } from 'commander'
import { leavesOf as dataLeaves, partsOf } from '../../../cli/entry/tree/command-data.ts'
import type { CommandData } from '../../../cli/entry/tree/command-data.ts'
import { readAll } from '../../../cli/entry/tree/command-file.ts'
import { makeWholeProgram } from '../../../cli/entry/program.ts'
import { makeIo } from '../harness.ts'

/** A command that does something: nothing stands below it. */
export type Leaf = { path: string; words: readonly string[]; command: CommandData }

/** Every command of the tree that does something, in its order; `said` gathers what they print when asked for help. */
export async function leavesOf(): Promise<{ program: Command; leaves: Leaf[]; said: string[] }> {
  const { io, stdout } = makeIo({})
  const program = await makeWholeProgram({ io, exitCode: 0 })
  const leaves = (await readAll()).commands.flatMap((noun) => dataLeaves(noun))
  return {
    program,
    leaves: leaves.map(({ words, leaf }) => ({ path: words.join(' '), words, command: leaf })),
    said: stdout,
  }
}

/** Whether the command has this option itself. */
export function has({ command }: Leaf, long: string): boolean {
  return command.options.some((option) => partsOf(option).long === long)
}
