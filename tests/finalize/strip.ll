@counter = internal global i32 0

declare void @llvm.pseudoprobe(i64, i64, i32, i64)

define i32 @f(i32 %x) !prof !10 !dbg !5 {
entry:
  call void @llvm.pseudoprobe(i64 1, i64 1, i32 0, i64 -1)
  %c = icmp eq i32 %x, 0, !dbg !8
  br i1 %c, label %a, label %b, !prof !9, !dbg !8
a:
  ret i32 1, !dbg !8
b:
  ret i32 2
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3, !4}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "a.py", directory: "/")
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!5 = distinct !DISubprogram(name: "f", file: !1, line: 1, type: !6, unit: !0, spFlags: DISPFlagDefinition)
!6 = !DISubroutineType(types: !7)
!7 = !{}
!8 = !DILocation(line: 2, column: 1, scope: !5)
!9 = !{!"branch_weights", i32 1, i32 100}
!10 = !{!"function_entry_count", i64 7}
