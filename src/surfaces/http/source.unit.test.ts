import { expect, test } from 'vitest';
import { isFromHere } from './entrance.ts';

test('a call is from here where address, name and headers all say so', () => {
  const host = 'localhost:3001';
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect([address, isFromHere(address, { host })]).toEqual([address, true]);
  for (const own of ['127.0.0.1:3001', '[::1]:3001', 'localhost']) expect([own, isFromHere('::1', { host: own })]).toEqual([own, true]);
});

test('another address, another name, none, or a word of a proxy says otherwise', () => {
  const host = 'localhost:3001';
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', 'unknown', '2001:db8::127.0.0.1'])
    expect([address, isFromHere(address, { host })]).toEqual([address, false]);
  for (const other of ['covenant.example.org', 'localhost.example.org', '127.0.0.1.example.org', '10.0.0.1:3001', 'a b', '']) {
    expect([other, isFromHere('127.0.0.1', { host: other })]).toEqual([other, false]);
  }
  expect(isFromHere('127.0.0.1', {})).toBe(false);
  for (const name of ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via']) {
    expect([name, isFromHere('127.0.0.1', { host, [name]: '' })]).toEqual([name, false]);
  }
});
