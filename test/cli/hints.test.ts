import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Command } from 'commander'
import { makeWholeProgram } from '../../cli/entry/program.ts'
import { makeIo } from './harness.ts'

const CLI = join(import.meta.dirname, '..', '..', 'cli')

/** What stands behind `hint:`, and in a text that is a hint as a whole: lines of their own that begin with a command. */
function waysIn(source: string): string[] {
  // Examples are taken apart by the test of every command's help.
  const hints = source.replaceAll(/examples: \[[^]*?\],?\n/g, '')
  const texts = [...hints.matchAll(/'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g)].map(
    ([, plain, template]) => plain ?? template ?? '',
  )
  return texts
    .filter((text) => /^(?:[a-z][^'\n]{0,60}: )?svc [a-z]/.test(text))
    .flatMap((text) => text.split(/\\n| && /))
    .map((way) => way.replace(/^.*?: (?=svc )/, ''))
    .filter((way) => /^svc [a-z]/.test(way) && !SENTENCE.test(way))
}

/** What says something of the program svc. */
const SENTENCE = /^svc (is|keeps|needs|listens|scenario,|whoami --customer\.)/

/** The words of a command, with something for each part that is known later. */
function wordsOf(way: string): string[] {
  const filled = way.replaceAll(/\$\{[^}]*\}/g, 'x').replaceAll(/<[^>]*>/g, 'x')
  return [...filled.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) => word).slice(1)
}

/** Whether there is such a command, with such flags. */
function wrongIn(program: Command, words: readonly string[]): string | undefined {
  let command = program
  for (const word of words) {
    // Which command it is, is known later.
    if (word === 'x' && command.commands.length > 0) return undefined
    if (word === 'x' || word === '|' || word === '--help' || /^["']/.test(word)) continue
    const child = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (child !== undefined) command = child
    else if (command.commands.length > 0 && command.registeredArguments.length === 0 && !word.startsWith('-'))
      return `svc ${command.name()} has no ${word}`
    else if (word.startsWith('-') && word !== '-') {
      const name = word.replace(/=.*/, '')
      const all = [...command.options, ...(command.parent?.options ?? []), ...program.options]
      if (!all.some(({ long, short }) => long === name || short === name)) return `${command.name()} takes no ${name}`
    }
  }
  return undefined
}

t.test('each next step that begins with svc is a command that there is, with flags that it has', async (t) => {
  const program = await makeWholeProgram({ io: makeIo({}).io, exitCode: 0 })
  const files = readdirSync(CLI, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const ways = files.flatMap((file) => waysIn(readFileSync(join(CLI, file), 'utf8')).map((way) => ({ file, way })))
  t.ok(ways.length > 100, `${ways.length} were found`)
  for (const { file, way } of ways) t.equal(wrongIn(program, wordsOf(way)), undefined, `${file}: ${way}`)
})
