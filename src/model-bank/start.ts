import { createServer as createControlServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import type { Exchange } from './answer-resource.ts'
import { makeListener, reportFailure } from './answer-request.ts'
import { SERVER_HOSTS, issueServerCertificate, makeAuthority, readAuthority } from './certificates.ts'
import { answerControl } from './control.ts'
import { makeBank, savedStateOf } from './make-bank.ts'
import type { QuirkName } from './quirks.ts'
import { makeStateFile, readState } from './state-file.ts'
import type { StateFile } from './state-file.ts'
import type { Version } from './versions.ts'
import { writeFiles } from './write-files.ts'

/** Loopback only: the control port has no password, and the payer's page asks for none. */
const HOST = '127.0.0.1'

export type ModelBankOptions = {
  dir: string
  /** 0 chooses a free one. */
  port: number
  controlPort: number
  /** The addresses that payers may be sent back to, as the software statement lists them. */
  redirectUris: readonly string[]
  /** The version that the profile names; the bank speaks both. */
  version?: Version['name']
  quirks?: readonly QuirkName[]
  /** Keeps keys and books in `dir`, for the next start there on the same port. */
  keepsState?: boolean
  onExchange?: (exchange: Exchange) => void
}

export type ModelBank = {
  issuer: string
  controlUrl: string
  /** The file for SVC_BANK_PROFILES. */
  profiles: string
  /** The file for SVC_BANK_SOFTWARE_STATEMENT. */
  softwareStatement: string
  close(): Promise<void>
}

/** Starts a bank with keys, certificates and books of its own, and writes the files that a client needs into `dir`. */
export async function startModelBank(options: ModelBankOptions): Promise<ModelBank> {
  // Any connection may come without a certificate, for payers have none. What needs one refuses by itself.
  const server = createServer({ requestCert: true, rejectUnauthorized: false })
  const issuer = `https://${HOST}:${String(await listen(server, options.port))}`
  const saved = options.keepsState === true ? await readState(options.dir, issuer) : undefined
  const authority = saved === undefined ? await makeAuthority() : await readAuthority(saved.authority)
  const bank = await makeBank({
    issuer,
    authority,
    saved,
    redirectUris: options.redirectUris,
    quirks: options.quirks ?? [],
    useCertificate: (certificate) => {
      server.setSecureContext({ ...certificate, ca: authority.pem })
      server.closeAllConnections()
    },
    onExchange: options.onExchange ?? (() => undefined),
  })
  bank.useCertificate(await issueServerCertificate(authority, { hosts: SERVER_HOSTS, validDays: 90 }))
  const files = await writeFiles(options.dir, { bank, authority, version: options.version ?? '4.0' })
  const state =
    options.keepsState === true ? makeStateFile(options.dir, () => savedStateOf(bank, authority)) : undefined
  state?.touch()
  const listener = makeListener(bank, () => state?.touch())
  server.on('request', state === undefined ? listener : answerWhenSaved(listener, state))
  const control = createControlServer((req, res) => {
    res.once('close', () => state?.touch())
    reportFailure(res, answerControl({ bank, authority }, req, res))
  })
  const controlPort = await listen(control, options.controlPort)
  return {
    issuer,
    controlUrl: `http://${HOST}:${String(controlPort)}`,
    ...files,
    close: async () => {
      await Promise.all([close(server), close(control)])
      await state?.close()
    },
  }
}

/** A bank that is killed keeps what it has answered; one that can't save does not answer. */
function answerWhenSaved(listener: RequestListener, state: StateFile): RequestListener {
  return (req, res) => {
    const end: (...values: never[]) => unknown = res.end.bind(res)
    res.end = (...values: never[]) => {
      state.saved().then(
        () => end(...values),
        () => res.destroy(),
      )
      return res
    }
    listener(req, res)
  }
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, HOST, () => resolve(portOf(server.address())))
  })
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
  return address.port
}

function close(server: Server & { closeAllConnections?: () => void }): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections?.()
  })
}
