// pg-boss, tuned: 500 jobs a fetch, the next fetch at once while there are more, two workers. With `plant` it plants jobs
// and ends; without, it works.
import { PgBoss } from 'pg-boss'
import { ready, settings } from '../support/measured-process.ts'
import { makeSend } from './send.js'

const { url, plant } = settings()
const boss = new PgBoss({ connectionString: url, max: 10 })
boss.on('error', () => undefined)
await boss.start()

if (plant !== undefined) {
  await boss.createQueue('deliver')
  const jobs = Array.from({ length: plant.count }, (_, n) => ({ data: { url: plant.receivers[n % plant.receivers.length], id: `evt_${n}`, payload: plant.payload } }))
  for (let from = 0; from < jobs.length; from += 1_000) await boss.insert('deliver', jobs.slice(from, from + 1_000))
  ready({}, () => boss.stop())
} else {
  const sender = makeSend(64)
  const options = { batchSize: 500, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 }
  for (let worker = 0; worker < 2; worker += 1) {
    await boss.work('deliver', options, (jobs) => Promise.all(jobs.map(({ data }) => sender.send(data))).then(() => undefined))
  }
  ready({}, async () => {
    await boss.stop()
    await sender.close()
  })
}
