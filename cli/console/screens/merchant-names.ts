import type { MerchantRow } from './merchant-lines.ts'

export function nameOf({ merchant, registration }: MerchantRow): string {
  return merchant?.realm_slug ?? registration?.slug ?? merchant?.id ?? ''
}
