import { describe, expect, it } from 'vitest'
import { createAddressPolicy, isHostOrRange } from '../../infra/outbound/address-policy.ts'

describe('the address policy', () => {
  const strict = createAddressPolicy([])

  it.each([
    ['loopback', '127.0.0.1'],
    ['loopback', '127.9.9.9'],
    ['loopback', '::1'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '192.168.1.1'],
    ['unique local', 'fd00::1'],
    ['site local', 'fec0::1'],
    ['link-local', '169.254.1.1'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['metadata', '169.254.169.254'],
    ['metadata', 'fd00:ec2::254'],
    ['metadata', '100.100.100.200'],
    ['metadata', '168.63.129.16'],
    ['metadata', '192.0.0.192'],
    ['shared (CGNAT)', '100.64.0.1'],
    ['unspecified', '0.0.0.0'],
    ['unspecified', '::'],
    ['this network', '0.1.2.3'],
    ['broadcast', '255.255.255.255'],
    ['multicast', '224.0.0.1'],
    ['multicast', 'ff02::1'],
    ['benchmarking', '198.18.0.1'],
    ['documentation', '203.0.113.1'],
    ['documentation', '2001:db8::1'],
    ['future', '240.0.0.1'],
    ['IPv4-mapped', '::ffff:127.0.0.1'],
    ['IPv4-mapped', '::ffff:a9fe:a9fe'],
    ['IPv4-compatible', '::7f00:1'],
    ['IPv4-translated', '::ffff:0:7f00:1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['NAT64', '64:ff9b::a9fe:a9fe'],
    ['local NAT64', '64:ff9b:1::808:808'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo', '2001:0:1::1'],
    ['unassigned', '4000::1'],
    ['bracketed', '[::1]'],
    ['no address', 'example.com'],
    ['no address', ''],
  ])('refuses %s %s', (_kind, address) => {
    expect(strict.allowsAddress(address)).toBe(false)
  })

  it.each(['8.8.8.8', '1.1.1.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])('allows %s', (address) => {
    expect(strict.allowsAddress(address)).toBe(true)
  })

  it('allows addresses that the settings name', () => {
    const policy = createAddressPolicy(['10.1.0.0/16', '127.0.0.1', 'fd12::/16', 'Search.Internal'])
    expect(
      ['10.1.2.3', '127.0.0.1', '::ffff:10.1.2.3', 'fd12::9'].map((address) => policy.allowsAddress(address)),
    ).toEqual([true, true, true, true])
    expect(['10.2.0.1', '127.0.0.2', 'fd13::1'].map((address) => policy.allowsAddress(address))).toEqual([
      false,
      false,
      false,
    ])
    expect(['search.internal', 'SEARCH.internal.', 'x.search.internal'].map((host) => policy.allowsHost(host))).toEqual(
      [true, true, false],
    )
  })

  it.each([
    ['10.0.0.0/8', true],
    ['::1/128', true],
    ['localhost', true],
    ['my-host.internal', true],
    ['10.0.0.0/33', false],
    ['10.0.0.0/8/9', false],
    ['http://x', false],
    ['*.internal', false],
    ['host/8', false],
  ])('%s is a valid entry of the list: %s', (entry, valid) => {
    expect(isHostOrRange(entry)).toBe(valid)
  })
})
