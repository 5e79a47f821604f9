import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Io } from './io.ts'
import { mapOf } from './make-map.ts'
import type { CommandMap } from './map.ts'
import { makeWholeProgram } from './program.ts'

/** The map of all commands, made from the commands themselves: they are all loaded for it. */
export async function wholeMap(): Promise<CommandMap> {
  const sink = { write: () => undefined, isTTY: false, columns: 80 }
  const stdin = { isTTY: false, read: async () => Buffer.alloc(0), readLine: async () => undefined }
  const io: Io = { stdout: sink, stderr: sink, stdin, env: {}, cwd: '/', calledAs: 'svc' }
  return mapOf(await makeWholeProgram({ io, exitCode: 0 }))
}

/** Writes it beside this file, where completion finds it: a part of the build. */
export async function writeMap(): Promise<void> {
  writeFileSync(join(import.meta.dirname, 'map.json'), JSON.stringify(await wholeMap()))
}
