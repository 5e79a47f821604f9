import { makeApp } from '../../src/app.ts'
import { readConfig } from '../../src/config/read.ts'
import { jobs } from '../../src/jobs.ts'
import { startWorker } from '../../src/worker.ts'

/* A worker process for tests to kill: it carries out orders, and does nothing else. */
const app = await makeApp(readConfig(process.env))
startWorker(app, { jobs: jobs.filter(({ name }) => name === 'execute-orders') })
process.send?.('started')
