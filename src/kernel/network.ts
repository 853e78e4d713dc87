import { BlockList, isIP } from 'node:net';

const WRITTEN = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i;

function parsed(text: string): { address: string; family: 'ipv4' | 'ipv6'; bits: number } | undefined {
  const [, address = '', prefix] = WRITTEN.exec(text) ?? [];
  const version = isIP(address);
  const most = version === 4 ? 32 : 128;
  const bits = prefix === undefined ? most : Number(prefix);
  return version === 0 || bits > most ? undefined : { address, family: version === 4 ? 'ipv4' : 'ipv6', bits };
}

/** Whether `text` is an address, or a network written as `address/bits`. */
export const isNetwork = (text: string): boolean => parsed(text) !== undefined;

/** Tests whether an address is in one of `networks`. */
export function networkTest(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const text of networks) {
    const network = parsed(text);
    if (network) list.addSubnet(network.address, network.bits, network.family);
  }
  return (address) => networks.length > 0 && isIP(address) !== 0 && list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

/** Returns the network that one caller usually controls: the address itself for IPv4, and the /64 network for IPv6. */
export function addressGroup(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail = ''] = address.split('%')[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const whole = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return `${whole
    .slice(0, 4)
    .map((part) => Number.parseInt(part, 16).toString(16))
    .join(':')}::/64`;
}
