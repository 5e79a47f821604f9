import { startApi } from '../../src/api.ts'
import { makeApp } from '../../src/app.ts'
import { readConfig } from '../../src/config/read.ts'
import { startWorker } from '../../src/worker.ts'
import { jobs } from '../../src/jobs.ts'
import { ready, settings } from '../support/measured-process.ts'

/** `parts` are what this process runs; the worker only delivers webhooks, unless it does `allJobs`. At a port it is a sandbox. */
type Settings = {
  url: string
  encryptionKey: string
  parts: readonly ('api' | 'worker')[]
  allJobs: boolean
  sandboxPort?: number
}

const { url, encryptionKey, parts, allJobs, sandboxPort } = settings<Settings>()
const defaults = readConfig({
  // Callers are identified by a header alone, as in the peers.
  SVC_IDENTITY: 'none',
  ...process.env,
  SVC_DATABASE_URL: url,
  SVC_ENCRYPTION_KEY: encryptionKey,
  SVC_PORT: String(sandboxPort ?? 0),
})
const made = await makeApp({ ...defaults, webhookAllowPrivate: true })
// As in production, where responses are not compared with their declaration, but with the sandbox's mock bank: live mode
// has no bank without profiles.
const app = sandboxPort !== undefined ? made : { ...made, config: { ...made.config, mode: 'live' as const } }
const api = parts.includes('api') ? await startApi(app) : undefined
const worker = parts.includes('worker')
  ? startWorker(app, { jobs: jobs.filter(({ name }) => allJobs || name === 'deliver-webhooks') })
  : undefined

ready({ port: api?.port }, async () => {
  await api?.stop()
  await worker?.stop()
  await app.close()
})
