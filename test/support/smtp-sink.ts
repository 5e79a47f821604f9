import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { SMTPServerOptions } from 'smtp-server'
import type { Test } from 'tap'

/** A mail as it came over the wire. */
export type Received = { from: string; recipients: string[]; text: string }

export type SmtpSink = {
  url: string
  received: Received[]
  /** Answers every recipient with this code from now on; undefined takes them again. */
  refuse(code: number | undefined): void
  /** Runs while a mail is being taken, before its sender hears that it was. */
  whileTaking(work: (() => Promise<void>) | undefined): void
}

/** A mail server on its own port that keeps the mails it receives. Gone at the test's end. */
export async function smtpSink(t: Test, options: SMTPServerOptions = {}): Promise<SmtpSink> {
  const received: Received[] = []
  let refusal: number | undefined
  let work: (() => Promise<void>) | undefined
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 100,
    // An untrusted certificate is intended here, so warnings about it are suppressed.
    logger: false,
    onRcptTo: (_address, _session, done) => {
      done(refusal === undefined ? null : Object.assign(new Error('no such mailbox'), { responseCode: refusal }))
    },
    onData: (stream, { envelope }, done) => {
      let text = ''
      stream.setEncoding('utf8')
      stream.on('data', (part: string) => (text += part))
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        received.push({ from, recipients: envelope.rcptTo.map(({ address }) => address), text })
        Promise.resolve(work?.()).then(() => done(), done)
      })
    },
    ...options,
  })
  // A client that is cut off is no concern of the sink's.
  server.on('error', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  t.teardown(() => new Promise<void>((resolve) => server.close(resolve)))
  // Listening on a port, so it has one.
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    refuse: (code) => (refusal = code),
    whileTaking: (next) => (work = next),
  }
}
