import { makeApp } from '../../src/app.ts'
import { readConfig } from '../../src/config/read.ts'
import { jobs } from '../../src/jobs.ts'
import { startWorker } from '../../src/worker.ts'

/* A worker process for tests to kill: it runs the jobs that it is given by name, or all of them. */
const names = process.argv.slice(2)
const app = await makeApp(readConfig(process.env))
startWorker(app, { jobs: jobs.filter(({ name }) => names.length === 0 || names.includes(name)) })
process.send?.('started')
