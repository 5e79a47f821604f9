import { Worker } from 'node:worker_threads'
import { spawn } from 'node:child_process'
import { makeOutbox, plantMerchant, plantDeliveries, queueIsEmpty, countByStatus } from '/work/main/test/support/webhooks.ts'
import { runDeliveries } from '/work/main/src/webhooks/run-deliveries.ts'
import { leaveCluster } from '/work/main/test/support/cluster.ts'
import { claimDeliveries } from '/work/main/src/webhooks/sql.ts'
const downs: (() => unknown)[] = []
const t = { teardown: (f: () => any) => downs.push(f) }
const concurrency = Number(process.env.C ?? 128), merchants = Number(process.env.M ?? 50), rows = Number(process.env.N ?? 10000)
const { owner, app } = await makeOutbox(t, { webhookConcurrency: concurrency, webhookConcurrencyPerMerchant: Number(process.env.P ?? 8) })
const recv = spawn(process.execPath, ['-e', `const s=require('http').createServer((q,r)=>{q.resume();q.on('end',()=>{r.writeHead(200);r.end()})});s.listen(0,'127.0.0.1',()=>process.stdout.write(String(s.address().port)))`])
const port = await new Promise(r => recv.stdout.once('data', d => r(String(d))))
const body = JSON.stringify({eventId:'x',data:'y'.repeat(700)})
for (let i = 0; i < merchants; i++) await plantDeliveries(owner, await plantMerchant({ owner, app, webhookUrl: `http://127.0.0.1:${port}/h` }), { count: rows / merchants, payload: body })
await owner.query('analyze')
if (process.env.EXPLAIN) {
  await owner.query('load \'auto_explain\''); await owner.query("set auto_explain.log_min_duration=0; set auto_explain.log_nested_statements=on; set auto_explain.log_analyze=on; set client_min_messages=log")
  owner.on('notice', n => console.log(n.message))
  for (let i = 0; i < 3; i++) { const b = performance.now(); const r = await owner.query("begin; select count(*) from claim_webhooks('w','00000000-0000-0000-0000-000000000000',128,8,interval '30 s'); rollback;"); console.log('ms', performance.now() - b) }
} else {
  const b = performance.now(); const cpu = process.cpuUsage()
  const d = runDeliveries(app)
  while (!(await queueIsEmpty(owner))) await new Promise(r => setTimeout(r, 20))
  const s = (performance.now() - b) / 1000; const c = process.cpuUsage(cpu)
  console.log(rows, 'in', s.toFixed(2), 's =', (rows / s).toFixed(0), '/s; node us/row', ((c.user + c.system) / rows).toFixed(0), await countByStatus(owner))
  await d.stop()
}
recv.kill()
for (const f of downs.reverse()) await f()
// leaveCluster(process.pid)
process.exit(0)
