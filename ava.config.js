import { inOrder } from './test/order.ts'

// biome-ignore lint/style/noDefaultExport: ava reads it so
export default {
  extensions: ['ts'],
  files: ['test/**/*.test.ts'],
  timeout: '240s',
  nodeArguments: ['--disable-warning=TimeoutNegativeWarning'],
  require: ['./test/servers/bundled.ts', './test/record-duration.ts'],
  sortTestFiles: inOrder,
}
