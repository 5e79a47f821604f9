import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NOUNS } from '../../base/command-names.ts'
import type { NounName } from '../../base/command-names.ts'
import { childOf } from './command-data.ts'
import type { CommandData } from './command-data.ts'
import { GLOBAL_OPTIONS } from './global-options.ts'

const FILE = join(import.meta.dirname, 'commands.json')

export const ROOT: CommandData = {
  name: 'svc',
  summary: 'Open Banking and account-to-account payments: the service, and the commands to work with it',
  usage: '[options] [command]',
  arguments: [],
  options: GLOBAL_OPTIONS,
  after: '',
  commands: NOUNS.map(({ name, summary }) => ({
    name,
    summary,
    usage: '',
    arguments: [],
    options: [],
    after: '',
    commands: [],
  })),
}

/** A noun with everything below it: from the file that the build wrote, else from its module. */
export async function readNoun(name: NounName): Promise<CommandData> {
  const line = fileLines().find((each) => each.startsWith(`{"name":"${name}",`))
  // Written by the same build.
  if (line !== undefined) return JSON.parse(line.replace(/,$/, '')) as CommandData
  const { describeNoun } = await import('./describe.ts')
  return describeNoun(name)
}

export async function readChild(command: CommandData, word: string): Promise<CommandData | undefined> {
  const child = childOf(command, word)
  return command === ROOT && child !== undefined ? readNoun(child.name as NounName) : child
}

export async function readAll(): Promise<CommandData> {
  return { ...ROOT, commands: await Promise.all(NOUNS.map(({ name }) => readNoun(name))) }
}

function fileLines(): string[] {
  try {
    return readFileSync(FILE, 'utf8').split('\n')
  } catch {
    // In a checkout that was not built.
    return []
  }
}

/** A part of the build. */
export async function writeCommands(): Promise<void> {
  const { nounsText } = await import('./describe.ts')
  writeFileSync(FILE, await nounsText())
}
