import { request } from 'undici'
import { run } from '../../../cli/entry/run.ts'
import { makeIo } from '../harness.ts'
import type { CliSettings, Outcome } from '../harness.ts'
import { noteRan } from '../ran.ts'
import { until } from '../../support/until.ts'

export type Running = { ended: Promise<Outcome>; said(): string }

/** Starts a command of this process that waits for its user. */
export function startCli(argv: readonly string[], settings: CliSettings): Running {
  const { io, stdout, stderr } = makeIo(settings)
  const ended = run(argv, io).then((code) => {
    noteRan(argv, code)
    return { code, stdout: stdout.join(''), stderr: stderr.join('') }
  })
  return { ended, said: () => stderr.join('') }
}

/** The address that a login asks its user to open, as soon as it does. */
export async function addressIn({ said }: Running): Promise<string> {
  const found = (): string | undefined => /^ {2}(https?:\S+)$/m.exec(said())?.[1]
  await until('the login says where to go', () => found() !== undefined)
  return found() ?? ''
}

export type Page = { status: number; text: string; location: string }

export async function visit(url: string): Promise<Page> {
  const { statusCode, headers, body } = await request(url)
  return { status: statusCode, text: await body.text(), location: String(headers['location'] ?? '') }
}
