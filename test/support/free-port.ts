import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { isFree } from '../../src/db/free-port.ts'

/*
 * Ports for what a test starts. Several processes run tests side by side, and seconds can pass between the choice of a port
 * and the moment when something listens there; or nothing may ever listen there, which is what the test is about. So each
 * process has a block of ports to itself, and as the sign of it listens on the block's first one until it ends. Below the
 * ports that the service chooses (src/db/free-port.ts), and those that the system gives to outgoing connections.
 */
const LOWEST = 10_000
const BLOCK_SIZE = 200
const BLOCK_COUNT = 50

/** fetch connects to none that the Fetch standard blocks; of these ports it is this one. */
const BLOCKED = 10_080

let block: Promise<number> | undefined
let taken = 0

/** A port of the loopback interface that is free now, and that no other process of tests takes. */
export async function freePort(): Promise<number> {
  const first = await (block ??= takeBlock())
  for (let attempt = 1; attempt < BLOCK_SIZE; attempt += 1) {
    taken += 1
    const port = first + 1 + (taken % (BLOCK_SIZE - 1))
    if (port !== BLOCKED && (await isFree(port))) return port
  }
  throw new Error(`no free port from ${first} on`)
}

async function takeBlock(): Promise<number> {
  // Begins elsewhere in each process, so that a file of its own does not come back to the ports of the one before.
  for (let attempt = 0; attempt < BLOCK_COUNT; attempt += 1) {
    const first = LOWEST + ((process.pid + attempt) % BLOCK_COUNT) * BLOCK_SIZE
    if (await holds(first)) return first
  }
  throw new Error(`no block of ports is free from ${LOWEST} on`)
}

async function holds(port: number): Promise<boolean> {
  const server: Server = createServer((socket) => socket.destroy())
  server.listen({ port, host: '127.0.0.1', exclusive: true })
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.unref()
  return true
}
