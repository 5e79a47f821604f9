import type { Config } from './config.ts'

const LOOPBACK = new Set(['127.0.0.1', '::1', '[::1]', 'localhost'])

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host)
}

/** Whether other machines can reach the service: it listens beyond loopback, or has a public address that is not. */
export function isReachable({ host, publicUrl }: Pick<Config, 'host' | 'publicUrl'>): boolean {
  return !isLoopback(host) || (publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname))
}
