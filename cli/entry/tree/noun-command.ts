import { Command } from 'commander'
import type { AddHelpTextPosition } from 'commander'
import { NOUNS } from '../../base/command-names.ts'
import type { NounName } from '../../base/command-names.ts'
import type { Runtime } from '../../kit/context.ts'
import { loadNoun } from './load-noun.ts'

type Handler = (this: Command) => Promise<void> | void

/** A command as its module declares it. It is read and never parsed: what it says becomes data, and its handler is run. */
export class NounCommand extends Command {
  handler: Handler | undefined
  readonly below: string[] = []
  declare readonly commands: NounCommand[]

  override createCommand(name?: string): NounCommand {
    return new NounCommand(name)
  }

  override action(handler: Handler): this {
    this.handler = handler
    return this
  }

  override addHelpText(position: AddHelpTextPosition, text: unknown): this {
    if (position !== 'after' || typeof text !== 'string') throw new TypeError(`${this.name()}: help text is data`)
    this.below.push(text)
    return this
  }
}

/** Loads a noun with everything below it. */
export async function loadedNoun(name: NounName, runtime: Runtime): Promise<NounCommand> {
  const { summary = '' } = NOUNS.find((noun) => noun.name === name) ?? {}
  const command = new NounCommand(name).description(summary)
  const add = await loadNoun(name)
  add(command, runtime)
  return command
}
