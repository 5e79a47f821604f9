/** Devices and features that no page of ours may use. */
export const PERMISSIONS_POLICY =
  'camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), hid=(), display-capture=()'

/** Headers of a page that no other page may frame or keep a handle on. */
export const ALONE = { 'permissions-policy': PERMISSIONS_POLICY, 'cross-origin-opener-policy': 'same-origin' }
