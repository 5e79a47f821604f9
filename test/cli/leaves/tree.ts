import type { Command } from 'commander'
import { makeWholeProgram } from '../../../cli/entry/program.ts'
import { makeIo } from '../harness.ts'

/** A command that does something: nothing stands below it. */
export type Leaf = { path: string; words: readonly string[]; command: Command }

/** Every command of the tree that does something, in its order; `said` gathers what they print when asked for help. */
export async function leavesOf(): Promise<{ program: Command; leaves: Leaf[]; said: string[] }> {
  const { io, stdout } = makeIo({})
  const program = await makeWholeProgram({ io, exitCode: 0 })
  const leaves: Leaf[] = []
  const visit = (command: Command, words: readonly string[]): void => {
    if (command.commands.length === 0) leaves.push({ path: words.join(' '), words, command })
    for (const child of command.commands) visit(child, [...words, child.name()])
  }
  visit(program, [])
  return { program, leaves, said: stdout }
}

/** Whether the command has this option itself. */
export function has({ command }: Leaf, long: string): boolean {
  return command.options.some((option) => option.long === long)
}
