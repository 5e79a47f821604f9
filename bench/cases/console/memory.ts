import { setTimeout as delay } from 'node:timers/promises'
import { usageOf } from '../../support/process.ts'
import type { Usage } from '../../support/process.ts'
import type { PaymentCreator } from './creator.ts'

/** The memory of the console and of the service, at a time after the start. */
export type MemorySample = { at: number; console: Usage; service: Usage }

/** Samples both once a second, while payments are created. */
export async function watchMemory(
  pids: { console: number; service: number },
  created: PaymentCreator,
): Promise<MemorySample[]> {
  const begun = performance.now()
  const watched: MemorySample[] = []
  const look = async (): Promise<void> => {
    const [console, service] = await Promise.all([usageOf(pids.console), usageOf(pids.service)])
    watched.push({ at: performance.now() - begun, console, service })
  }
  while (!created.isDone()) {
    if (watched.length * 1_000 <= performance.now() - begun) await look()
    await delay(100)
  }
  await look()
  return watched
}
