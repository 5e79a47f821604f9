import type { Config } from './config.ts'

const LOOPBACK = new Set(['127.0.0.1', '::1', '[::1]', 'localhost'])

/** Whether only this machine reaches what listens there. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.has(host)
}

/** Whether others than this machine reach the service: it listens beyond loopback, or says to be reached there. */
export function isReachable({ host, publicUrl }: Pick<Config, 'host' | 'publicUrl'>): boolean {
  return !isLoopback(host) || (publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname))
}
