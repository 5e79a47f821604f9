import { Writable } from 'node:stream'
import { makeLog } from '../../src/observe/log.ts'
import type { Logger } from '../../src/observe/log.ts'

/** The service's own log, which writes into memory. */
export function capturedLog(level = 'trace'): { log: Logger; lines(): string[]; take(): string } {
  const chunks: string[] = []
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      chunks.push(String(chunk))
      done()
    },
  })
  const lines = () => chunks.join('').split('\n').filter(Boolean)
  // Everything since the last call, which is forgotten.
  const take = () => chunks.splice(0).join('')
  return { log: makeLog(level, destination), lines, take }
}
