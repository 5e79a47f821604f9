// graphile-worker, with its defaults but for sixteen jobs at once, or tuned: jobs fetched 500 at a time and completed in
// batches. With `count` it plants jobs and ends; without, it works.
import { run, runMigrations } from 'graphile-worker'
import pg from 'pg'
import { ready, settings } from '../support/measured-process.ts'
import { makeSend } from './send.js'

const { url, tuned, plant } = settings()
const tuning = { concurrentJobs: 32, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 }
const preset = { worker: { connectionString: url, pollInterval: 1_000, ...(tuned ? tuning : { concurrentJobs: 16 }) } }

if (plant !== undefined) {
  await runMigrations({ preset })
  const client = new pg.Client(url)
  await client.connect()
  const jobs = Array.from({ length: plant.count }, (_, n) => ({ identifier: 'deliver', payload: { url: plant.receivers[n % plant.receivers.length], id: `evt_${n}`, payload: plant.payload } }))
  for (let from = 0; from < jobs.length; from += 1_000) {
    await client.query(
      'select count(*) from graphile_worker.add_jobs(array(select json_populate_record(null::graphile_worker.job_spec, value) from json_array_elements($1)))',
      [JSON.stringify(jobs.slice(from, from + 1_000))],
    )
  }
  ready({}, () => client.end())
} else {
  const sender = makeSend(32)
  const runner = await run({ preset, noHandleSignals: true, taskList: { deliver: (job) => sender.send(job) } })
  ready({}, async () => {
    await runner.stop()
    await sender.close()
  })
}
