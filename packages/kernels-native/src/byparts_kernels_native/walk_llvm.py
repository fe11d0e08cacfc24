"""The walk of `walk.py` in LLVM IR, for where there is no C compiler."""

import time

from byparts_tensor_ir.emit.source import LlvmSource

_TEXT = """
declare i32 @clock_gettime(i32, ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal i64 @microseconds() {
  %t = alloca [2 x i64]
  call i32 @clock_gettime(i32 CLOCK, ptr %t)
  %s = load i64, ptr %t
  %at = getelementptr i64, ptr %t, i64 1
  %n = load i64, ptr %at
  %whole = mul i64 %s, 1000000
  %part = sdiv i64 %n, 1000
  %now = add i64 %whole, %part
  ret i64 %now
}

define void @"walk"(ptr %t) {
  %p = alloca ptr
  %done = alloca i64
  %left = alloca i64
  %begun = alloca i64
  %thread = alloca ptr
  %first = getelementptr i64, ptr %t, i64 6
  store ptr %first, ptr %p
  store i64 0, ptr %done
  store i64 1, ptr %left
  store i64 0, ptr %begun
  %t1 = getelementptr i64, ptr %t, i64 1
  %t2 = getelementptr i64, ptr %t, i64 2
  %t3 = getelementptr i64, ptr %t, i64 3
  %t4 = getelementptr i64, ptr %t, i64 4
  %save = load ptr, ptr %t
  %restore = load ptr, ptr %t1
  %check = load ptr, ptr %t2
  %python = load ptr, ptr %t3
  %forget = load ptr, ptr %t4
  %asks = icmp ne ptr %save, null
  br i1 %asks, label %begin, label %next
begin:
  %thread.0 = call ptr %save()
  store ptr %thread.0, ptr %thread
  br label %next
next:
  %at = load ptr, ptr %p
  %code = load i64, ptr %at
  %a0 = getelementptr i64, ptr %at, i64 1
  %a1 = getelementptr i64, ptr %at, i64 2
  %a2 = getelementptr i64, ptr %at, i64 3
  %a3 = getelementptr i64, ptr %at, i64 4
  %a4 = getelementptr i64, ptr %at, i64 5
  %a5 = getelementptr i64, ptr %at, i64 6
  %a6 = getelementptr i64, ptr %at, i64 7
  %a7 = getelementptr i64, ptr %at, i64 8
  %ends = icmp eq i64 %code, 0
  br i1 %ends, label %end, label %line
line:
  %x = load ptr, ptr %a0
  switch i64 %code, label %leave [
    i64 1, label %run
    i64 2, label %set
    i64 3, label %add
    i64 4, label %copy
    i64 5, label %if.bool
    i64 6, label %if.less
    i64 7, label %host
  ]
end:
  br i1 %asks, label %give, label %leave
give:
  %thread.1 = load ptr, ptr %thread
  call void %restore(ptr %thread.1)
  br label %leave
leave:
  ret void
run:
  %table = load ptr, ptr %a1
  call void %x(ptr %table)
  store ptr %a2, ptr %p
  br label %ask
set:
  %value = load i64, ptr %a1
  store i64 %value, ptr %x
  store ptr %a2, ptr %p
  br label %next
add:
  %by = load i64, ptr %a1
  %old = load i64, ptr %x
  %new = add i64 %old, %by
  store i64 %new, ptr %x
  store ptr %a2, ptr %p
  br label %next
copy:
  %base = load ptr, ptr %a1
  %bytes = load i64, ptr %a2
  %to.counter = load ptr, ptr %a3
  %to.count = load i64, ptr %to.counter
  %to.step = load i64, ptr %a4
  %to.offset = mul i64 %to.count, %to.step
  %to = getelementptr i8, ptr %x, i64 %to.offset
  %of.counter = load ptr, ptr %a5
  %of.count = load i64, ptr %of.counter
  %of.step = load i64, ptr %a6
  %of.offset = mul i64 %of.count, %of.step
  %of = getelementptr i8, ptr %base, i64 %of.offset
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %of, i64 %bytes, i1 false)
  store ptr %a7, ptr %p
  br label %next
if.bool:
  %place = load ptr, ptr %a1
  %is = load i8, ptr %place
  %when = load i64, ptr %a2
  %wanted = trunc i64 %when to i8
  %so = icmp eq i8 %is, %wanted
  br i1 %so, label %jump, label %pass.bool
pass.bool:
  store ptr %a3, ptr %p
  br label %ask
if.less:
  %i.at = load ptr, ptr %a1
  %i = load i64, ptr %i.at
  %j.at = load ptr, ptr %a2
  %j = load i64, ptr %j.at
  %less = icmp slt i64 %i, %j
  %less.i = zext i1 %less to i64
  %when.less = load i64, ptr %a3
  %so.less = icmp eq i64 %less.i, %when.less
  br i1 %so.less, label %jump, label %pass.less
pass.less:
  store ptr %a4, ptr %p
  br label %ask
jump:
  %word = load i64, ptr %a0
  %goal = getelementptr i64, ptr %t, i64 %word
  store ptr %goal, ptr %p
  br label %ask
host:
  %thread.2 = load ptr, ptr %thread
  call void %restore(ptr %thread.2)
  %result = call ptr %python(ptr %x)
  %failed = icmp eq ptr %result, null
  br i1 %failed, label %leave, label %went
went:
  call void %forget(ptr %result)
  %thread.3 = call ptr %save()
  store ptr %thread.3, ptr %thread
  store ptr %a1, ptr %p
  br label %ask
ask:
  %left.0 = load i64, ptr %left
  %left.1 = sub i64 %left.0, 1
  store i64 %left.1, ptr %left
  %some = icmp ne i64 %left.1, 0
  %silent = xor i1 %asks, true
  %on = or i1 %some, %silent
  br i1 %on, label %next, label %look
look:
  %now = call i64 @microseconds()
  %done.0 = load i64, ptr %done
  %fresh = icmp eq i64 %done.0, 0
  %begun.0 = load i64, ptr %begun
  %begun.1 = select i1 %fresh, i64 %now, i64 %begun.0
  store i64 %begun.1, ptr %begun
  %few = icmp slt i64 %done.0, 1024
  %twice = mul i64 %done.0, 2
  %more = add i64 %twice, 1
  %done.1 = select i1 %few, i64 %more, i64 %done.0
  store i64 %done.1, ptr %done
  store i64 %done.1, ptr %left
  %since = sub i64 %now, %begun.1
  %long = icmp sgt i64 %since, 10000
  br i1 %long, label %signals, label %next
signals:
  %thread.4 = load ptr, ptr %thread
  call void %restore(ptr %thread.4)
  %pressed = call i32 %check()
  %stop = icmp ne i32 %pressed, 0
  br i1 %stop, label %leave, label %again
again:
  %thread.5 = call ptr %save()
  store ptr %thread.5, ptr %thread
  store i64 0, ptr %done
  store i64 1, ptr %left
  br label %next
}
"""
WALK = LlvmSource("walk", _TEXT.replace("CLOCK", str(time.CLOCK_MONOTONIC)), 0, frozenset())
