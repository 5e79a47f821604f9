import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Io } from '../../base/io.ts'
import { mapOf } from './make-map.ts'
import type { CommandMap } from './map.ts'
import { outlineOf } from './outline.ts'
import { writeOutlines } from './outline-file.ts'
import { makeWholeProgram } from '../program.ts'

/** The map of all commands, made from the commands themselves: they are all loaded for it. */
export async function wholeMap(): Promise<CommandMap> {
  return mapOf(await programOfNobody())
}

/** Writes the map beside this file, where completion finds it, and the outlines of all nouns: a part of the build. */
export async function writeMap(): Promise<void> {
  const program = await programOfNobody()
  writeFileSync(join(import.meta.dirname, 'map.json'), JSON.stringify(mapOf(program)))
  writeOutlines(program.commands.map((command) => outlineOf(command)))
}

function programOfNobody(): Promise<Command> {
  const sink = { write: () => undefined, isTTY: false, columns: 80 }
  const stdin = {
    isTTY: false,
    read: async () => Buffer.alloc(0),
    chunks: async function* nothing() {},
    readLine: async () => undefined,
  }
  const io: Io = { stdout: sink, stderr: sink, stdin, env: {}, cwd: '/', calledAs: 'svc' }
  return makeWholeProgram({ io, exitCode: 0 })
}
