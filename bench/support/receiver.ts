import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../src/db/free-port.ts'
import { startChild } from './child.ts'

/** A webhook receiver that responds 200 immediately and counts, in a process of its own. */
export type Receiver = {
  url: string
  /** How many requests it has had so far. */
  count(): Promise<number>
  stop(): Promise<void>
}

const NGINX = '/usr/sbin/nginx'
const STARTS_WITHIN_MS = 5_000
/** Where nginx reports its requests, this one among them, and what stands in for it does too. */
const STATUS = '/status'

const configOf = (folder: string, port: number) => `
daemon off;
pid ${folder}/nginx.pid;
error_log stderr crit;
worker_processes 1;
events { worker_connections 2000; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path ${folder};
  proxy_temp_path ${folder};
  fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder};
  scgi_temp_path ${folder};
  server {
    listen 127.0.0.1:${port} backlog=511;
    location = ${STATUS} { stub_status; }
    location / { return 200; }
  }
}
`

/**
 * Nginx where it is installed, because what the receiver uses of the machine is missing from what it measures; else
 * bare sockets.
 */
export async function startReceiver(): Promise<Receiver> {
  const { port, stop } = existsSync(NGINX) ? await startNginx() : await startSockets()
  const url = `http://127.0.0.1:${port}`
  let looks = 0
  const count = async () => {
    const response = await fetch(`${url}${STATUS}`)
    looks += 1
    // The third number of the line under "server accepts handled requests".
    const [, requests] = /\n *\d+ \d+ (\d+)/.exec(await response.text()) ?? []
    return Number(requests) - looks
  }
  const until = performance.now() + STARTS_WITHIN_MS
  while (!(await isCounted(count)))
    if (performance.now() < until) await delay(20)
    else throw new Error('the receiver did not start')
  return { url, count, stop }
}

/** Whether it listens by now. */
function isCounted(count: Receiver['count']): Promise<boolean> {
  return count().then(
    () => true,
    () => false,
  )
}

type Started = { port: number; stop: () => Promise<void> }

async function startSockets(): Promise<Started> {
  const child = await startChild('processes/receiver.ts', {})
  return { port: Number(child.ready['port']), stop: child.stop }
}

async function startNginx(): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-nginx-'))
  const port = await freePort()
  await writeFile(join(folder, 'nginx.conf'), configOf(folder, port))
  const server = spawn(NGINX, ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = once(server, 'exit')
  return {
    port,
    stop: async () => {
      server.kill()
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
