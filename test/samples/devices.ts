import type { Sample, SampleServer } from './sample.ts'

type Device = { device_code: string; user_code: string }

const newCode = { method: 'POST', path: '/api/cli/device/code' }

export const deviceSample: Sample = {
  slice: 'devices',
  async make({ ask }) {
    const { user_code } = await ask<Device>(newCode)
    return { nouns: { device: { user_code } } }
  },
  missing: () => ({ nouns: { device: { user_code: 'BBBB-BBBB' } } }),
  changes: {
    'POST /api/cli/device/code': {
      leavesNoEvent: 'nobody is known yet; the approval is recorded',
    },
    'POST /api/cli/device/token': {
      async body(server) {
        const { device_code, user_code } = await newDevice(server)
        await server.send({
          method: 'POST',
          path: `/api/cli/device/${user_code}/approve`,
          headers: server.credentials.operator,
        })
        return { device_code }
      },
    },
    'POST /api/cli/device/{user_code}/deny': {
      path: async server => `/api/cli/device/${(await newDevice(server)).user_code}/deny`,
    },
  },
}

async function newDevice({ send }: SampleServer): Promise<Device> {
  return JSON.parse((await send(newCode)).text)
}
